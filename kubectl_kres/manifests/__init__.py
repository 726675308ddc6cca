"""What ``-f`` reads: files, directories and standard input as kubectl takes them, with the place of every value."""
