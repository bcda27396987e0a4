//! Stage 1 of Atlas: repositories, pull requests, patches. Everything goes through the git command.
