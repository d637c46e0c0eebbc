"""The same network written again, in other words and other libraries; differentiated by those libraries."""
