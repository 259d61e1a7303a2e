//! Finds the file of a program.

use std::path::{Path, PathBuf};

use rustix::fs::Access;

use crate::error::CommandError;

/// Returns the file of a program: as it is named if that has a slash, else from `PATH`.
pub(crate) fn find(program: &str) -> Result<PathBuf, CommandError> {
    let missing = |reason: String| CommandError::Program { program: program.to_owned(), reason };
    if program.contains('/') {
        let path = Path::new(program);
        if is_program(path) {
            return std::path::absolute(path).map_err(|error| missing(error.to_string()));
        }
        let is_there = path.is_file();
        let reason = if is_there { "the file is not executable; chmod +x it" } else { "no file" };
        return Err(missing(format!("{reason}; a name without a slash is looked up on PATH")));
    }
    #[expect(clippy::disallowed_methods, reason = "programs are found as a shell finds them")]
    let search = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&search).map(|directory| directory.join(program));
    found.into_iter().find(|path| is_program(path)).map_or_else(
        || {
            let search = search.to_string_lossy();
            Err(missing(format!(
                "it is in no directory of PATH ({search}); install it, or give its path"
            )))
        },
        |path| std::path::absolute(path).map_err(|error| missing(error.to_string())),
    )
}

fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, Access::EXEC_OK).is_ok()
}
