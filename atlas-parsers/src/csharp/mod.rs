//! C# and other languages of .NET.

mod compiler;
pub(crate) mod dotnet;
mod nunit;
pub(crate) mod nunit2;
pub(crate) mod nunit3;
pub(crate) mod xunit;
