"""What every benchmark must keep to, one function per promise; see running/check.py."""
