"""HTML pages: server-rendered, without scripts, usable with a keyboard and on a phone."""
