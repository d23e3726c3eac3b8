"""The commands of build.py, inside .venv."""
import argparse
def main(arguments):
    print("hello", arguments); return 0
