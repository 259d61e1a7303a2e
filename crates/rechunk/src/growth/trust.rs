//! `--trust`: arrays that somebody knows to be right, whatever they seem to be.

use rechunk_words::Pattern;

use crate::Error;
use crate::request::CopyRequest;

/// Which arrays are not compared.
#[derive(Debug)]
pub(crate) struct Trust {
    patterns: Vec<Pattern>,
}

impl Trust {
    /// The patterns of a request.
    pub(crate) fn of(request: &CopyRequest) -> Self {
        let patterns = request.trust.iter().map(|path| Pattern::given_to("--trust", path));
        Self { patterns: patterns.collect() }
    }

    /// Whether the array at a path in the group, or of a name beside one array, is trusted.
    pub(crate) fn means(&self, path: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.means(path))
    }

    /// Refuses patterns that mean none of these arrays: they are misspelt.
    #[expect(clippy::needless_pass_by_value, reason = "an iterator is made for the call")]
    pub(crate) fn check_used<'a>(
        &self,
        paths: impl Iterator<Item = &'a str> + Clone,
    ) -> Result<(), Error> {
        let is_unused = |pattern: &&Pattern| !paths.clone().any(|path| pattern.means(path));
        self.patterns.iter().find(is_unused).map_or(Ok(()), |pattern| Err(pattern.unused().into()))
    }
}

/// Refuses `--trust` where nothing is compared.
pub(crate) fn check_trust(request: &CopyRequest) -> Result<(), Error> {
    if request.trust.is_empty() || request.placement.is_some() {
        return Ok(());
    }
    Err(Error::Usage {
        message: "--trust is about what is compared with --append and --region".to_owned(),
        hint: Some("leave it out".into()),
    })
}
