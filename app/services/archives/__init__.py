"""Archives of studies as they are read: the file, its signature, its arrays, and whether its story can have happened.

Nothing in an archive is trusted. Hashes show that it is whole, not that it is true, since anyone can compute hashes. So
each event is held to what the use cases would have allowed, and what is imported is marked for ever.
"""
