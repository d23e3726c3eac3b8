"""Published models, as far as their papers give numbers: shapes of a block, and where they stand.

Every number has its place in `sources`: ("vaswani2017", (("table", "3"),)) is Table 3 of the paper.
What is derived from them (parameters, operations) is derived in `block_counts.py`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Model:
    """`layers` N; `decoder`: layers of a decoder with cross-attention besides. `inner`: width of
    all query heads together, `kv`: of all key or value heads. `gated`: the FFN has a third matrix.
    `hidden`: its inner width. `norms`: how many stand in a layer, `rms` if they have no bias.
    `tied`: the output uses the embedding's matrix again. `published`: parameters in all."""

    name: str
    wiring: str
    layers: int
    width: int
    hidden: int
    heads: int
    vocabulary: int
    published: float
    sources: tuple[tuple[str, tuple[tuple[str, str], ...]], ...]
    decoder: int = 0
    inner: int = 0  # 0: as wide as the stream
    kv: int = 0
    gated: bool = False
    norms: int = 2
    rms: bool = False
    positions: int = 0  # learned position vectors
    tied: bool = True


MODELS: tuple[Model, ...] = (
    Model(
        name="Transformer base",
        wiring="post_ln",
        layers=6,
        decoder=6,
        width=512,
        hidden=2048,
        heads=8,
        vocabulary=37_000,
        published=65e6,
        sources=(("vaswani2017", (("table", "3"), ("section", "5.1"))),),
    ),
    Model(
        name="BERT base",
        wiring="post_ln",
        layers=12,
        width=768,
        hidden=3072,
        heads=12,
        vocabulary=30_000,
        positions=512,
        published=110e6,
        sources=(("devlin2019", (("section", "3"), ("section", "A.2"))),),
    ),
    Model(
        name="GPT-2 small",
        wiring="pre_ln",
        layers=12,
        width=768,
        hidden=3072,
        heads=12,
        vocabulary=50_257,
        positions=1024,
        published=124e6,  # the paper's 117 M is an error, says the repository's README
        sources=(("radford2019", (("table", "2"),)), ("openai2019", ())),
    ),
    Model(
        name="GPT-3 175B",
        wiring="pre_ln",
        layers=96,
        width=12_288,
        hidden=4 * 12_288,
        heads=96,
        vocabulary=50_257,
        positions=2048,
        published=175e9,
        sources=(("brown2020", (("table", "2.1"), ("section", "2.1"))),),
    ),
    Model(
        name="Llama 3 8B",
        wiring="pre_rms",
        layers=32,
        width=4096,
        hidden=14_336,
        heads=32,
        kv=8 * 128,
        gated=True,
        rms=True,
        vocabulary=128_000,
        tied=False,
        published=8e9,
        sources=(("llama2024", (("table", "3"),)),),
    ),
    Model(
        name="Gemma 2 9B",
        wiring="sandwich",
        layers=42,
        width=3584,
        hidden=28_672 // 2,  # the table counts both matrices of the gate
        heads=16,
        inner=16 * 256,
        kv=8 * 256,
        gated=True,
        norms=4,
        rms=True,
        vocabulary=256_128,
        published=918e6 + 8_324e6,
        sources=(("gemma2024", (("table", "1"), ("table", "2"))),),
    ),
    Model(
        name="OLMo 2 7B",
        wiring="olmo2",
        layers=32,
        width=4096,
        hidden=11_008,
        heads=32,
        gated=True,
        norms=4,  # two on the branches, one on the queries, one on the keys
        rms=True,
        vocabulary=100_352,
        tied=False,
        published=7e9,
        sources=(("olmo2025", ()), ("allenai2024", ())),
    ),
)
