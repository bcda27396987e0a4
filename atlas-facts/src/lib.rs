#![doc = include_str!("../README.md")]

mod folders;
mod languages;
mod packages;
mod pattern;
mod programs;

pub use folders::{FolderOfTests, folder_of_tests};
pub use languages::{Ending, Family, Language, ending_of, language_of};
pub use packages::{PACKAGE_FILES, PackageFile, Role, lockfiles, package_file, project_files};
pub use pattern::fits;
pub use programs::{Does, does, family_of_parser, programs_of_families};
