//! The facade of Atlas: resumable runs, reports and the `atlas` command.
