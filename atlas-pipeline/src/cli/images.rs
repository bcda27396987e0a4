//! `atlas images`.

use super::output::{json, print};
use super::shared::configuration;
use super::{DONE, Format};
use atlas_core::{Error, RunContext};
use atlas_docker::{DiskUse, StoredImage};
use atlas_pipeline::{PushReport, RegistryLogins, docker_engine, push_images};
use clap::{Args, Subcommand};
use serde_json::json;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

#[derive(Debug, Args)]
pub(super) struct ImagesArgs {
    #[command(subcommand)]
    what: What,
    /// Configuration [default: atlas.toml in this folder, if there is one].
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// How to print the result.
    #[arg(long, global = true, value_enum, default_value_t)]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List the images of Atlas on the engine, the ones unused for longest first.
    Ls,
    /// Remove those that were not used for some time; images that a container uses stay.
    Gc {
        /// Days without a use.
        #[arg(long, value_name = "DAYS", default_value_t = 7.0)]
        unused: f64,
    },
    /// Push images to the registries that their names say. Logins are those of `docker login`, or of the variables
    /// `ATLAS_REGISTRY`, `ATLAS_REGISTRY_USER` and `ATLAS_REGISTRY_PASSWORD`.
    Push {
        /// Names of images.
        #[arg(value_name = "IMAGE", required_unless_present = "dataset")]
        images: Vec<String>,
        /// Rows whose images are pushed; they then name them by the digests that the registries gave. Can be
        /// given several times.
        #[arg(long, value_name = "FILE")]
        dataset: Vec<PathBuf>,
    },
    /// Write one into a file, for `docker load` on another machine.
    Export {
        /// Its name or id.
        image: String,
        /// The file.
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
}

pub(super) async fn images(cx: &RunContext, args: ImagesArgs) -> Result<u8, Error> {
    let config = configuration(args.config.as_deref())?;
    let engine = docker_engine(&config).await?;
    match args.what {
        What::Ls => list(&engine.images().await?, args.format)?,
        What::Gc { unused } => {
            let unused = Duration::from_secs_f64((unused * 86_400.0).clamp(0.0, 1e12));
            removed(&engine.remove_unused(unused).await?, args.format)?;
        }
        What::Push { images, dataset } => {
            let logins = RegistryLogins::read_environment()?;
            let done = push_images(cx, &engine, &logins, &images, &dataset).await?;
            cx.progress.phase("");
            pushed(&done, args.format)?;
        }
        What::Export { image, out } => {
            let bytes = engine.export(&image, &out).await?;
            if args.format == Format::Json {
                json(&json!({ "image": image, "file": out, "bytes": bytes }))?;
            } else {
                print(&format!("{}: {}\n", out.display(), people(bytes)))?;
            }
        }
    }
    Ok(DONE)
}

fn list(images: &[StoredImage], format: Format) -> Result<(), Error> {
    if format == Format::Json {
        return json(&images);
    }
    if images.is_empty() {
        return print("no image of Atlas is here\n");
    }
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs();
    let mut text = format!(
        "{:>10} {:>10} {:>8}  image\n",
        "its own", "shared", "unused"
    );
    for image in images {
        let hours = now.saturating_sub(image.used) / 3600;
        let unused = if hours < 48 {
            format!("{hours} h")
        } else {
            format!("{} d", hours / 24)
        };
        let _ = writeln!(
            text,
            "{:>10} {:>10} {unused:>8}  {}",
            people(image.own_bytes),
            people(image.shared_bytes),
            image.name
        );
    }
    print(&text)
}

fn removed(left: &DiskUse, format: Format) -> Result<(), Error> {
    if format == Format::Json {
        return json(&json!({
            "removed": left.evicted,
            "images": left.images,
            "bytes": left.bytes,
            "free_bytes": left.free_bytes,
        }));
    }
    let mut text = String::new();
    for name in &left.evicted {
        let _ = writeln!(text, "removed {name}");
    }
    let _ = writeln!(text, "{} images left, {}", left.images, people(left.bytes));
    print(&text)
}

fn pushed(report: &PushReport, format: Format) -> Result<(), Error> {
    if format == Format::Json {
        return json(report);
    }
    let mut text = String::new();
    for image in &report.pushed {
        let _ = writeln!(text, "pushed {} {}", image.image, image.digest);
    }
    if report.rows > 0 {
        let _ = writeln!(text, "{} rows name their image by its digest", report.rows);
    }
    if report.rows_without_image > 0 {
        let _ = writeln!(text, "{} rows name no image", report.rows_without_image);
    }
    print(&text)
}

/// Bytes for people.
pub(super) fn people(bytes: u64) -> String {
    if bytes < 1 << 30 {
        return format!("{} MiB", bytes.div_ceil(1 << 20));
    }
    let tenths = bytes.saturating_mul(10) >> 30;
    format!("{}.{} GiB", tenths / 10, tenths % 10)
}
