"""Single sign-on by OpenID Connect, for people at the page: the authorization code flow with PKCE, state and nonce.

A person is a key of this server, with a role that follows from the groups the provider names. Each browser gets a
secret of that key for some hours. So access, grants, audit and revocation work as for every other key. It needs the
extra `sso`, which is loaded when somebody signs on.
"""
