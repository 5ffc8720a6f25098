"""The game itself: files, rules, words, state."""
