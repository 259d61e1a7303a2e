//! `rechunk serve datastore`.

use std::net::ToSocketAddrs;
use std::process::ExitCode;
use std::sync::Arc;

use rechunk::Error;
use rechunk_serve::{DatastoreOptions, TokenFile, datastore_view, open_read_only, open_writable};

use super::database;
use super::refused::unreadable;
use super::started::{self, Settings};
use super::{tls, token};
use crate::args::DatastoreArgs;
use crate::request::{self, usage};
use crate::terminal;

pub(crate) async fn run(args: DatastoreArgs) -> Result<ExitCode, Error> {
    let body_bytes_max = request::bytes("--max-body", &args.max_body)?;
    check_base_url(args.base_url.as_deref())?;
    let certificate = tls::certificate(&args.tls).await?;
    let tokens = match &args.tokens {
        Some(path) => {
            let file = TokenFile::at(path).map_err(|error| token::refused(error, path))?;
            file.check().await.map_err(|error| token::refused(error, path))?;
            Some(file)
        }
        None => None,
    };
    if args.write && tokens.is_none() && !is_loopback(&args.listen) {
        let who = format!("everybody who reaches {} can change the data sets", args.listen);
        terminal::say(&format!("warning: {who}; --tokens FILE says who may"));
    }
    let root = database::root(&args.root, &args.stores.of_stores())?;
    let database = database::of(&root, args.database.as_deref())?;
    let opened = if args.write {
        open_writable(root, &database).await
    } else {
        open_read_only(root, &database).await
    };
    let opened =
        opened.map_err(|error| database::refused(error, &args.root, args.database.as_deref()))?;
    let datastore = Arc::new(opened);
    let upload_bytes = DatastoreOptions::default().upload_bytes.max(body_bytes_max);
    let options = DatastoreOptions {
        base_url: args.base_url,
        is_tls: certificate.is_some(),
        tokens,
        rate: args.rate,
        body_bytes_max,
        upload_bytes,
        ..Default::default()
    };
    let settings = Settings { listen: args.listen, certificate };
    let view = datastore_view(Arc::clone(&datastore), options);
    let code = started::serve(view, settings).await?;
    datastore.settle().await.map_err(|error| unreadable(&args.root, error.to_string()))?;
    Ok(code)
}

fn check_base_url(url: Option<&str>) -> Result<(), Error> {
    let Some(url) = url else { return Ok(()) };
    let host = ["http://", "https://"].iter().find_map(|scheme| url.strip_prefix(scheme));
    let is_plain = |host: &str| {
        !host.is_empty()
            && host.bytes().all(|byte| byte.is_ascii_graphic() && !b"?#".contains(&byte))
    };
    if host.is_some_and(is_plain) {
        return Ok(());
    }
    let hint = Some("write it like https://data.example.org/store");
    Err(usage(format!("--base-url: {url:?} is no URL of a server"), hint))
}

/// True if only this machine reaches the address. One that cannot be read is refused later.
fn is_loopback(listen: &str) -> bool {
    listen.to_socket_addrs().is_ok_and(|mut all| all.all(|address| address.ip().is_loopback()))
}
