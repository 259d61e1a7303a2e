//! `rechunk probe`.

use std::path::Path;
use std::process::ExitCode;

use rechunk::{Error, ProbeOptions, Probed, ProfileFile};
use rechunk_render::{probe_text, seconds};
use serde_json::json;

use crate::args::ProbeArgs;
use crate::request::{self, usage};
use crate::{signals, terminal};

/// Fewer bytes measure nothing.
const BYTES_MIN: u64 = 1 << 20;

pub(crate) async fn run(args: ProbeArgs) -> Result<ExitCode, Error> {
    let options = options(&args)?;
    // Before minutes are spent on what cannot be written.
    let mut file = existing(args.out.as_deref())?;
    if !args.json && !args.quiet {
        let how =
            if options.read.is_some() { "reading from" } else { "writing to and reading from" };
        let about = seconds(options.seconds);
        terminal::say(&format!("{how} {}, and running codecs: about {about}", args.location));
    }
    let cancel = signals::cancel_on_signal_saying("stopping; what was written is being removed");
    let probed =
        rechunk::probe(&args.location, &options, &request::stores(&args.stores)?, &cancel).await?;
    probed.add_to(&mut file);
    if let Some(path) = &args.out {
        terminal::write_file(path, &file.to_json()?)?;
    }
    show(&args, &probed, &file);
    Ok(ExitCode::SUCCESS)
}

fn show(args: &ProbeArgs, probed: &Probed, file: &ProfileFile) {
    if args.json {
        terminal::print_json(&json!({ "profile": file, "probe": probed }));
    } else if !args.quiet {
        terminal::print(&probe_text(probed));
        match &args.out {
            Some(path) => terminal::say(&format!("wrote {path}: plan with --profile {path}")),
            None => terminal::say("nothing was kept: --out FILE writes a profile"),
        }
    }
}

fn options(args: &ProbeArgs) -> Result<ProbeOptions, Error> {
    let bytes = request::bytes("--bytes", &args.bytes)?;
    if bytes < BYTES_MIN {
        return Err(usage(format!("--bytes: {bytes} are too few"), Some("give 1MiB or more")));
    }
    let mut options = ProbeOptions::new(bytes, f64::from(args.seconds));
    options.read.clone_from(&args.read);
    Ok(options)
}

/// The profile that is there, to which a store is added, or a new one called as the file is.
fn existing(out: Option<&str>) -> Result<ProfileFile, Error> {
    let Some(path) = out else { return Ok(ProfileFile::new("probe")) };
    if Path::new(path).exists() {
        return ProfileFile::read(path);
    }
    let name = Path::new(path).file_stem().map(|name| name.to_string_lossy().into_owned());
    Ok(ProfileFile::new(&name.unwrap_or_else(|| "probe".to_owned())))
}
