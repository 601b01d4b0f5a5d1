"""Computing on a Ray cluster: the same requests as to worker processes, answered by actors on any of its machines.

    server process  ──channel──  gateway process  ──Ray──  actor: `LocalAnswerer` on some node
    `RayCompute`                 one per actor             reads the database

The server never loads Ray. A gateway is a worker process to it, started, watched and replaced by `supervision`; it
passes requests on to its actor, and ends when the actor is gone. So an actor, a node, a gateway or the whole cluster
may die: what was under way is repeated, and the server goes on serving.

    compute     what the server sees, and how it is opened
    cluster     the address of the cluster: one that runs already, or one on this machine that ends with the server
    head        the process that holds a cluster on this machine
    gateway     between a server process and an actor
    actor       what runs on the cluster
"""
