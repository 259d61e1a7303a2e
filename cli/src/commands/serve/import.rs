//! `rechunk serve import`.

use std::process::ExitCode;

use rechunk::Error;
use rechunk_serve::{Imported, Left, import};
use serde_json::{Value, json};

use super::database;
use super::refused::unreadable;
use crate::args::ImportArgs;
use crate::terminal;

pub(crate) async fn run(args: ImportArgs) -> Result<ExitCode, Error> {
    let root = database::root(&args.root, &args.stores.of_stores())?;
    let url = args.database.as_deref();
    let database = database::of(&root, url)?;
    if root.local_root().is_some_and(|path| !path.is_dir()) {
        return Err(unreadable(&args.root, "there is no such directory".to_owned()));
    }
    let imported = import(root, &database).await;
    let imported = imported.map_err(|error| database::refused(error, &args.root, url))?;
    if args.json {
        terminal::print_json(&document(&imported, &database.to_string()));
    } else {
        terminal::print(&lines(&imported, &database.to_string()).join("\n"));
    }
    Ok(ExitCode::SUCCESS)
}

fn lines(imported: &Imported, database: &str) -> Vec<String> {
    let Imported { datasets, versions, left, removed } = imported;
    let mut lines = vec![format!("{datasets} data sets, {versions} versions are in {database}")];
    let line = |Left { folder, reason }: &Left| format!("left {folder}: {reason}");
    lines.extend(left.iter().map(line));
    lines.extend(removed.iter().map(|id| format!("removed {id}: it has no folder")));
    lines
}

fn document(imported: &Imported, database: &str) -> Value {
    let left = |Left { folder, reason }: &Left| json!({"folder": folder, "reason": reason});
    json!({
        "database": database,
        "datasets": imported.datasets,
        "versions": imported.versions,
        "left": imported.left.iter().map(left).collect::<Vec<_>>(),
        "removed": imported.removed,
    })
}
