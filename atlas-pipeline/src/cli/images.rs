//! `atlas images`.

use super::DONE;
use super::shared::{ConfigArgs, Format};
use atlas_core::{Error, RunContext};
use atlas_docker::{DiskUse, StoredImage};
use atlas_pipeline::{PushReport, RegistryLogins, docker_engine, push_images};
use clap::{Args, Subcommand};
use serde_json::json;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

#[derive(Debug, Args)]
#[command(mut_args(|option| option.global(true)))]
pub(super) struct ImagesArgs {
    #[command(subcommand)]
    what: What,
    #[command(flatten)]
    config: ConfigArgs,
    #[command(flatten)]
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
    let config = args.config.read()?;
    let engine = docker_engine(&config).await?;
    match args.what {
        What::Ls => {
            let images = engine.images().await?;
            args.format.show(&images, || list(&images))?;
        }
        What::Gc { unused } => {
            let unused = Duration::from_secs_f64((unused * 86_400.0).clamp(0.0, 1e12));
            let left = engine.remove_unused(unused).await?;
            let told = json!({
                "removed": left.evicted,
                "images": left.images,
                "bytes": left.bytes,
                "free_bytes": left.free_bytes,
            });
            args.format.show(&told, || removed(&left))?;
        }
        What::Push { images, dataset } => {
            let logins = RegistryLogins::read_environment()?;
            let done = push_images(cx, &engine, &logins, &images, &dataset).await?;
            cx.progress.phase("");
            args.format.show(&done, || pushed(&done))?;
        }
        What::Export { image, out } => {
            let bytes = engine.export(&image, &out).await?;
            let told = json!({ "image": image, "file": out, "bytes": bytes });
            let text = || format!("{}: {}\n", out.display(), people(bytes));
            args.format.show(&told, text)?;
        }
    }
    Ok(DONE)
}

fn list(images: &[StoredImage]) -> String {
    if images.is_empty() {
        return "no image of Atlas is here\n".to_owned();
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
    text
}

fn removed(left: &DiskUse) -> String {
    let mut text = String::new();
    for name in &left.evicted {
        let _ = writeln!(text, "removed {name}");
    }
    let _ = writeln!(text, "{} images left, {}", left.images, people(left.bytes));
    text
}

fn pushed(report: &PushReport) -> String {
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
    text
}

/// Bytes for people.
pub(super) fn people(bytes: u64) -> String {
    if bytes < 1 << 30 {
        return format!("{} MiB", bytes.div_ceil(1 << 20));
    }
    let tenths = bytes.saturating_mul(10) >> 30;
    format!("{}.{} GiB", tenths / 10, tenths % 10)
}
