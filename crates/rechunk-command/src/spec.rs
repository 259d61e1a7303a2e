//! A command as data: which program, which files, how often it is tried.

use rechunk_grid::DataType;
use serde::{Deserialize, Serialize};

use crate::error::CommandError;
use crate::format::FileFormat;
use crate::template::Template;

/// Shape of the output that a program writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Returns {
    /// That of its first input.
    #[default]
    Padded,
    /// That of its first input without the pads.
    Cropped,
}

/// Command that is run on boxes: which program, which files, how often it is tried.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CommandSpec {
    /// Program and arguments, as one would type them into a POSIX shell.
    ///
    /// No shell is started: the text is split once, then placeholders are replaced: `{in}` (as
    /// `{in0}`), `{in1}`, …, `{out}`, `{meta}`, `{dir}`, `{index}`, `{shape}`, `{dtype}`. `{{` and
    /// `}}` are braces.
    pub command: String,
    /// Format of the files that the program reads and writes.
    #[serde(default)]
    pub format: FileFormat,
    /// Shape of the output.
    #[serde(default)]
    pub returns: Returns,
    /// Programs that run at once, at most; none if the caller's threads are the bound.
    #[serde(default)]
    pub jobs: Option<u32>,
    /// Memory of one program, bytes. Only carried for who plans.
    #[serde(default)]
    pub memory_bytes: Option<u64>,
    /// Time that one attempt has, milliseconds; none for no limit. In a persistent program the
    /// first task includes the start.
    #[serde(default)]
    pub timeout_milliseconds: Option<u64>,
    /// Attempts after the first.
    #[serde(default)]
    pub retries: u32,
    /// True for a program that stays and reads tasks from stdin, one line of JSON each.
    #[serde(default)]
    pub persistent: bool,
    /// True to keep the directories of tasks.
    #[serde(default)]
    pub keep_files: bool,
}

impl CommandSpec {
    /// Creates the spec of a command with defaults: `npy` files, padded output, one attempt, no
    /// limits.
    ///
    /// ```
    /// use rechunk_command::CommandSpec;
    /// use rechunk_grid::DataType;
    ///
    /// let spec = CommandSpec::new("denoise 3 {in} {out}");
    /// assert!(spec.check(&[DataType::Uint16], DataType::Uint16, &[64, 64, 64]).is_ok());
    /// let spec = CommandSpec::new("denoise {input} {out}");
    /// let error = spec.check(&[DataType::Uint16], DataType::Uint16, &[64]).unwrap_err();
    /// assert!(error.to_string().contains("no placeholder {input}"));
    /// ```
    pub fn new(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            format: FileFormat::default(),
            returns: Returns::default(),
            jobs: None,
            memory_bytes: None,
            timeout_milliseconds: None,
            retries: 0,
            persistent: false,
            keep_files: false,
        }
    }

    /// The command with the defaults of all that decides no element of its output: how many run at
    /// once, their memory, time and retries.
    ///
    /// ```
    /// use rechunk_command::CommandSpec;
    ///
    /// let mut spec = CommandSpec::new("denoise 3 {in} {out}");
    /// spec.jobs = Some(4);
    /// assert_eq!(spec.deciding(), CommandSpec::new("denoise 3 {in} {out}"));
    /// ```
    #[must_use]
    pub fn deciding(&self) -> Self {
        let (format, returns, persistent) = (self.format, self.returns, self.persistent);
        Self { format, returns, persistent, ..Self::new(self.command.clone()) }
    }

    /// Refuses a command that cannot be run on boxes of up to `shape` elements, pads included.
    ///
    /// `inputs` are the types of its inputs, `output` that of its output. Looks at nothing but the
    /// arguments: whether there is such a program, [`Runner::new`](crate::Runner::new) finds out.
    pub fn check(
        &self,
        inputs: &[DataType],
        output: DataType,
        shape: &[u64],
    ) -> Result<(), CommandError> {
        self.template()?.check_inputs(inputs.len()).map_err(|reason| self.wrong(reason))?;
        for &data_type in inputs.iter().chain([&output]) {
            self.format.check_type(data_type)?;
        }
        self.format.check_shape(shape)
    }

    /// Parses the command; refuses one that contradicts the other settings.
    pub(crate) fn template(&self) -> Result<Template, CommandError> {
        if self.jobs == Some(0) {
            return Err(self.wrong("0 programs may run at once; at least 1 has to"));
        }
        if self.timeout_milliseconds == Some(0) {
            return Err(self.wrong("it has a time of 0; leave that out for no limit"));
        }
        let template = Template::parse(&self.command).map_err(|reason| self.wrong(reason))?;
        let checked =
            if self.persistent { template.check_persistent() } else { template.check_has_output() };
        checked.map_err(|reason| self.wrong(reason))?;
        Ok(template)
    }

    fn wrong(&self, reason: impl Into<String>) -> CommandError {
        CommandError::Command { command: self.command.clone(), reason: reason.into() }
    }
}
