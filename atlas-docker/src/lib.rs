//! Environments: analysis of a repository, plans, Dockerfiles, engines and sandboxes.
//!
//! [`analyse`] reads a checkout and says how to build and test it, with evidence for each
//! conclusion; [`render`] turns such a plan into a Dockerfile; a [`Builder`] makes an environment
//! of both. [`SymbolicSynthesizer`] is the three in a row, without a model.
//!
//! A plan names no absolute path: its commands use `$ATLAS_REPO` (the repository's root),
//! `$ATLAS_ENV` (installed things, not to be written while tests run), `$ATLAS_CACHE` (warm caches
//! and build products) and `$ATLAS_OUT` (reports, only there while tests run), so that one plan
//! runs in a container and on a machine without one.

mod analysis;
mod apt;
mod build;
mod ci;
mod engine;
mod facts;
mod languages;
#[cfg(feature = "mcp")]
mod mcp;
mod pins;
mod prerequisites;
mod quote;
mod refine;
mod registries;
mod render;
mod repair;
mod sealed;
mod services;
mod stock;
mod substitute;
mod synthesizer;
mod system;
mod toolbox;
mod tree;
mod versions;

pub use analysis::{Analysis, analyse};
pub use build::{BuildOutcome, Builder};
pub use ci::ALSO_WITH;
pub use engine::{
    Bubblewrap, BubblewrapStatus, DiskUse, DockerBuilder, DockerEngine, DockerOptions,
    DockerSandbox, DockerStatus, EngineStatus, FoundImage, ImageLayer, LocalBuilder, LocalEngine,
    LocalOptions, LocalSandbox, Places, PushedImage, RegistryLogin, StoredImage, double_quoted,
    engine_status, registry, write_context,
};
pub use facts::{AnalysisOptions, LEFT_OUT};
pub use languages::{inventory_script, languages};
#[cfg(feature = "mcp")]
pub use mcp::{Checkout, HistoryEntry, HistoryQuery, Repositories, RepositoryServer};
pub use pins::pin;
pub use refine::{
    RefineOptions, RefiningSynthesizer, RepositoryTools, ToolOffer, ToolSource, Trial, TrialRun,
};
pub use registries::Registries;
pub use render::{RenderError, context_files, render};
pub use substitute::Substitute;
pub use synthesizer::{FixedPlan, SymbolicSynthesizer};
pub use toolbox::{Tool, UnknownTool, tool, tools};
