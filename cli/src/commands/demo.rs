//! `rechunk demo`: the main job on real data that ships inside the program.

use std::path::Path;
use std::process::ExitCode;

use rechunk::{CopyRequest, Error, Existing, Job, Running, Stores};

use crate::args::DemoArgs;
use crate::commands::copy::run_copy;
use crate::demo_data::FILES;
use crate::terminal;

/// A budget the demo's plan has to respect; far less than the machine has.
const MEMORY_BYTES: u64 = 4 << 20;

pub(crate) async fn run(args: DemoArgs) -> Result<ExitCode, Error> {
    let directory = Path::new(&args.directory);
    check_empty(directory)?;
    let source = directory.join("ostia_monthly.zarr");
    unpack(&source)?;
    let array = source.join("surface_temperature");
    let target = directory.join("by_pixel.zarr");
    let talk = !args.output.quiet && !args.output.json;
    if talk {
        terminal::say(
            "Sea-surface temperature, monthly means of the OSTIA analysis: written a few months\n\
             per chunk, wanted as whole time series per pixel.\n",
        );
    }
    let mut request = CopyRequest::new(&array.display().to_string(), &target.display().to_string());
    request.chunks = "time=-1,latitude=6,longitude=36".parse()?;
    request.planning.memory_bytes = Some(MEMORY_BYTES);
    let job = Job::prepare(request, &Stores::default()).await?;
    let mut running = Running::new(Existing::Refuse);
    running.verify = true;
    Box::pin(run_copy(job.into(), running, &args.output, None)).await?;
    if talk {
        terminal::say(&format!(
            "\nLook at it:  rechunk info {}\nDraw it:     rechunk plan {} --chunks time=-1,latitude=6,longitude=36 --svg plan.svg",
            target.display(),
            array.display()
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn check_empty(directory: &Path) -> Result<(), Error> {
    let occupied = match std::fs::read_dir(directory) {
        Ok(mut entries) => entries.next().is_some(),
        Err(error) => error.kind() != std::io::ErrorKind::NotFound,
    };
    if occupied {
        return Err(Error::Conflict {
            location: directory.display().to_string(),
            reason: "exists and is not an empty directory".to_owned(),
            hint: Some("give the demo another directory: `rechunk demo DIR`".into()),
        });
    }
    Ok(())
}

fn unpack(root: &Path) -> Result<(), Error> {
    let failed = |path: &Path, error: std::io::Error| Error::State {
        path: path.display().to_string(),
        reason: error.to_string(),
    };
    for (name, bytes) in FILES {
        let path = root.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
        }
        std::fs::write(&path, bytes).map_err(|error| failed(&path, error))?;
    }
    Ok(())
}
