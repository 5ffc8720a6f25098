"""Runs on disk: the only room that reads or writes run folders."""
