"""The named theorems: which of the installed functions are recorded, and what is proved of them."""
