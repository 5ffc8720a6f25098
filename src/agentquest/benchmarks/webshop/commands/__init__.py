"""Commands of WebShop for the command line."""
