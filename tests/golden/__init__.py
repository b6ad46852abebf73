"""Golden numbers: what the public entry points answer on small fixed data, written down to the last digits.

They hold the numbers still while internals move. A deliberate change of a number rewrites its file in `values` with
`python tests/golden/write.py [case ...]` in the same commit, whose message says why.
"""
