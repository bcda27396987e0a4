//! Environments: analysis of a repository, plans, Dockerfiles, engines and sandboxes.
