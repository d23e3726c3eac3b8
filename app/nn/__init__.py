"""The tensor computation: tape, operations, wirings, stack. Imports NumPy, nothing else."""
