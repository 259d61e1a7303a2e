//! Options of `rechunk serve`.

use std::path::PathBuf;

use clap::Args;

/// `rechunk serve`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  rechunk serve em.ome.zarr                                   # for programs on this machine
  rechunk serve data --cors https://neuroglancer-demo.appspot.com
  rechunk serve data --listen 127.0.0.1:0                     # a port that is free

Nothing is ever written. The address stands on stdout, a line for each request on stderr; Ctrl-C or
SIGTERM ends the requests that are under way, then the program.")]
pub(crate) struct ServeArgs {
    /// The directory whose files are served: a Zarr or N5 store, or one above several.
    pub path: PathBuf,
    /// Address to listen on; port 0 picks one that is free. Who can reach it can read the files.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9081", env = "RECHUNK_LISTEN")]
    pub listen: String,
    /// Let pages of this origin read the files in a browser: `https://example.org`, or `*` for any.
    #[arg(long, value_name = "ORIGIN")]
    pub cors: Option<String>,
}
