//! Options of `rechunk serve`.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::StoreArgs;

/// `rechunk serve`.
#[derive(Debug, Clone, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
Examples:
  rechunk serve em.ome.zarr                                   # for programs on this machine
  rechunk serve data --cors https://neuroglancer-demo.appspot.com
  rechunk serve data --listen 127.0.0.1:0                     # a port that is free
  rechunk serve datastore images --write                      # data sets with versions
  rechunk serve import images                                 # folders that were copied there
  rechunk serve token add tokens.json ada --role write        # who may do what there

Files below PATH are never written. The address stands on stdout, a line for each request on stderr;
Ctrl-C or SIGTERM ends the requests that are under way, then the program. A directory that is called
as a command here is `./datastore`."
)]
pub(crate) struct ServeArgs {
    #[command(subcommand)]
    pub command: Option<ServeCommand>,
    /// The directory whose files are served: a Zarr or N5 store, or one above several.
    #[arg(required = true)]
    pub path: Option<PathBuf>,
    /// Address to listen on; port 0 picks one that is free. Who can reach it can read the files.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9081")]
    pub listen: String,
    /// Let pages of this origin read the files in a browser: `https://example.org`, or `*` for any.
    #[arg(long, value_name = "ORIGIN")]
    pub cors: Option<String>,
    #[command(flatten)]
    pub tls: TlsArgs,
}

/// Options of a server that is spoken to by TLS.
#[derive(Debug, Clone, Args)]
pub(crate) struct TlsArgs {
    /// Answer by TLS (`https://`) with this certificate, in PEM, and those that lead to it. A file
    /// that is replaced is used within a second.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<String>,
    /// The private key of the certificate, in PEM and not encrypted.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<String>,
}

/// Commands of `rechunk serve`.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum ServeCommand {
    /// Serve data sets with versions and resolutions, as clients of the DataStore speak.
    Datastore(DatastoreArgs),
    /// Make the database of a datastore anew of the folders that are there.
    Import(ImportArgs),
    /// Make, list and revoke tokens, which say who may do what with a datastore.
    Token {
        #[command(subcommand)]
        command: TokenCommand,
    },
}

/// `rechunk serve datastore`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  rechunk serve datastore images                              # read only, on this machine
  rechunk serve datastore images --write
  rechunk serve datastore images --write --tokens tokens.json --listen 0.0.0.0:9080
  rechunk serve datastore images --base-url https://data.example.org/store    # behind a proxy
  rechunk serve datastore images --write --database postgres://ada@db/images  # one of several
  rechunk serve datastore s3://lab/images --write --database sqlite:/var/lib/images.sqlite
  rechunk serve datastore images --tls-cert chain.pem --tls-key key.pem --listen 0.0.0.0:9443

Each data set is a folder below ROOT, with a folder for each version that BigDataViewer opens
(export.xml). The database says which there are, and what each of them is. The requests are in
docs/reference.md. Ctrl-C or SIGTERM ends the requests that are
under way, then the program.")]
pub(crate) struct DatastoreArgs {
    /// The directory of the data sets, or their place in a bucket (`s3://`, `gs://`, `az://`); with
    /// --write it is made if it is not there.
    pub root: String,
    /// Address to listen on; port 0 picks one that is free.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9080")]
    pub listen: String,
    /// Let clients create, write and delete; one process at a time may do so below ROOT, several
    /// with one database of PostgreSQL.
    #[arg(long)]
    pub write: bool,
    /// The database of the data sets: `sqlite:PATH` or `postgres://USER:PASSWORD@HOST:PORT/NAME`
    /// [default: `.datastore/datastore.sqlite` below ROOT, not in a bucket]. A password is better
    /// in `PGPASSWORD` or `~/.pgpass`: others on the machine see the command.
    #[arg(long, value_name = "URL")]
    pub database: Option<String>,
    /// Answer only those who send a token of this file [default: everybody]; see `rechunk serve
    /// token`.
    #[arg(long, value_name = "FILE")]
    pub tokens: Option<String>,
    /// The URL that clients reach the server by [default: as a request says]. Addresses of blocks
    /// begin with it; else with `X-Forwarded-Host`, `-Proto`, `-Port` and `-Prefix`, or `Host`.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Largest body of a request; as many blocks as fit are written by one.
    #[arg(long, value_name = "BYTES", default_value = "32MiB")]
    pub max_body: String,
    /// Most requests in a second by one token, or by one address without tokens [default: any
    /// number]. After a pause so many come at once; further ones are answered 429.
    #[arg(long, value_name = "N")]
    pub rate: Option<NonZeroU32>,
    #[command(flatten)]
    pub tls: TlsArgs,
    #[command(flatten)]
    pub stores: RootStoreArgs,
}

/// Options of a bucket that data sets are in.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Buckets")]
pub(crate) struct RootStoreArgs {
    /// Option of remote stores, as of `rechunk copy`: `endpoint=http://localhost:9000`.
    #[arg(long, value_name = "[LOCATION,]K=V")]
    pub store_option: Vec<String>,
    /// Longest time that a bucket may fail to answer; then requests are told to try again later.
    #[arg(long, value_name = "SECONDS", default_value = "30")]
    pub timeout: String,
}

impl RootStoreArgs {
    /// Gives them as options of any remote stores.
    pub(crate) fn of_stores(&self) -> StoreArgs {
        StoreArgs {
            store_option: self.store_option.clone(),
            timeout: Some(self.timeout.clone()),
            ..StoreArgs::default()
        }
    }
}

/// `rechunk serve import`.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  rechunk serve import images                       # the database of images is lost, or was never
  rechunk serve import images --database postgres://ada@db/images         # from now on that one

Every folder below ROOT that has versions becomes a data set: by its dataset.json, or, where another
program has made it, by export.xml and the N5 of its highest version. Data sets without a folder
leave the database. Blocks are not read.")]
pub(crate) struct ImportArgs {
    /// The directory of the data sets, or their place in a bucket.
    pub root: String,
    /// The database, as of `rechunk serve datastore`.
    #[arg(long, value_name = "URL")]
    pub database: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub stores: RootStoreArgs,
}

/// Commands of `rechunk serve token`.
#[derive(Debug, Clone, Subcommand)]
pub(crate) enum TokenCommand {
    /// Make a token and print it, once: the file has only its hash.
    Add {
        /// The file of tokens; it is made if it is not there.
        file: String,
        /// A name for the token, for logs and to revoke it.
        name: String,
        /// Rights: `read`, also `write` (blocks, versions, channels), or everything.
        #[arg(long, value_parser = ["read", "write", "admin"], default_value = "read")]
        role: String,
        /// Only this data set; repeat for more [default: all].
        #[arg(long, value_name = "ID")]
        dataset: Vec<String>,
    },
    /// List names and rights of tokens.
    List {
        /// The file of tokens.
        file: String,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Remove a token; servers refuse it within a second.
    Revoke {
        /// The file of tokens.
        file: String,
        /// Its name.
        name: String,
    },
}
