//! The numbers by which judges and policies are measured.
