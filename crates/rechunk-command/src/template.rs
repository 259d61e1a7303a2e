//! Text of a command as arguments with placeholders.

use std::fmt;

/// Placeholders as messages list them.
const KNOWN: &str = "{in}, {in0}, {in1}, …, {out}, {meta}, {dir}, {index}, {shape} and {dtype}";

/// A thing that is another one in each task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placeholder {
    Input(usize),
    Output,
    Meta,
    Directory,
    Index,
    Shape,
    DataType,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    Value(Placeholder),
}

/// A command, split into arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    program: String,
    arguments: Vec<Vec<Piece>>,
}

impl Template {
    /// Splits a command in the POSIX manner. Returns the mistake in it, if there is one.
    pub(crate) fn parse(command: &str) -> Result<Self, String> {
        if command.contains('\0') {
            return Err("it has a character of value 0".to_owned());
        }
        let words = shlex::split(command)
            .ok_or("a quote is not closed, or it ends with a backslash; close it, or quote it")?;
        let mut arguments = words.iter().map(|word| pieces(word)).collect::<Result<Vec<_>, _>>()?;
        if arguments.is_empty() {
            return Err("it is empty; name a program".to_owned());
        }
        let program = match arguments.remove(0).as_slice() {
            [] => return Err("the name of the program is empty".to_owned()),
            [Piece::Text(program)] => program.clone(),
            _ => return Err("the name of the program has a placeholder; write it out".to_owned()),
        };
        Ok(Self { program, arguments })
    }

    /// Refuses placeholders of inputs that there are not.
    pub(crate) fn check_inputs(&self, inputs: usize) -> Result<(), String> {
        let beyond = self.placeholders().find_map(|placeholder| match placeholder {
            Placeholder::Input(number) if number >= inputs => Some(number),
            _ => None,
        });
        let Some(number) = beyond else { return Ok(()) };
        Err(match inputs {
            0 => format!("it has {{in{number}}}, but no inputs"),
            1 => format!("it has {{in{number}}}, but one input, {{in}}"),
            _ => format!("it has {{in{number}}}, but {inputs} inputs, {{in0}} to {{in{}}}", {
                inputs - 1
            }),
        })
    }

    /// Refuses a command that is not told where to write.
    pub(crate) fn check_has_output(&self) -> Result<(), String> {
        if self.placeholders().any(|placeholder| placeholder == Placeholder::Output) {
            return Ok(());
        }
        Err("it lacks {out}, the file that it has to write".to_owned())
    }

    /// Refuses placeholders, whose values a persistent program does not have at its start.
    pub(crate) fn check_persistent(&self) -> Result<(), String> {
        let Some(placeholder) = self.placeholders().next() else { return Ok(()) };
        Err(format!(
            "a persistent program gets its files from stdin, so {placeholder} has no value; leave \
             it out"
        ))
    }

    fn placeholders(&self) -> impl Iterator<Item = Placeholder> + '_ {
        self.arguments.iter().flatten().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Value(placeholder) => Some(*placeholder),
        })
    }
}

#[cfg(unix)]
impl Template {
    /// Returns the name of the program as it was given.
    pub(crate) fn program(&self) -> &str {
        &self.program
    }

    /// Returns the arguments with placeholders replaced.
    pub(crate) fn fill(&self, value: impl Fn(Placeholder) -> String) -> Vec<String> {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Value(placeholder) => value(*placeholder),
        };
        self.arguments.iter().map(|pieces| pieces.iter().map(text).collect()).collect()
    }
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(0) => f.write_str("{in}"),
            Self::Input(number) => write!(f, "{{in{number}}}"),
            Self::Output => f.write_str("{out}"),
            Self::Meta => f.write_str("{meta}"),
            Self::Directory => f.write_str("{dir}"),
            Self::Index => f.write_str("{index}"),
            Self::Shape => f.write_str("{shape}"),
            Self::DataType => f.write_str("{dtype}"),
        }
    }
}

/// Cuts an argument at its placeholders.
fn pieces(word: &str) -> Result<Vec<Piece>, String> {
    let (mut pieces, mut text, mut rest) = (Vec::new(), String::new(), word);
    while let Some(at) = rest.find(['{', '}']) {
        text.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            text.push_str(brace);
            rest = after;
            continue;
        }
        let end = rest.find(['{', '}']).filter(|&end| brace == "{" && rest[end..].starts_with('}'));
        let Some(end) = end else {
            return Err(format!(
                "`{word}` has a lone {brace}; write {brace}{brace} for a brace that is meant so"
            ));
        };
        if !text.is_empty() {
            pieces.push(Piece::Text(std::mem::take(&mut text)));
        }
        pieces.push(Piece::Value(placeholder(&rest[..end])?));
        rest = &rest[end + 1..];
    }
    text.push_str(rest);
    if !text.is_empty() {
        pieces.push(Piece::Text(text));
    }
    Ok(pieces)
}

fn placeholder(name: &str) -> Result<Placeholder, String> {
    Ok(match name {
        "in" => Placeholder::Input(0),
        "out" => Placeholder::Output,
        "meta" => Placeholder::Meta,
        "dir" => Placeholder::Directory,
        "index" => Placeholder::Index,
        "shape" => Placeholder::Shape,
        "dtype" => Placeholder::DataType,
        _ => {
            let digits = name.strip_prefix("in").filter(|digits| digits.len() <= 4);
            let number = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
            let number = number.and_then(|digits| digits.parse().ok());
            number.map(Placeholder::Input).ok_or_else(|| {
                format!(
                    "there is no placeholder {{{name}}}; there are {KNOWN}, and {{{{ and }}}} for \
                     braces"
                )
            })?
        }
    })
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    fn filled(command: &str) -> Vec<String> {
        let template = Template::parse(command).unwrap();
        let mut words = vec![template.program().to_owned()];
        words.extend(template.fill(|placeholder| format!("<{placeholder} 1>")));
        words
    }

    #[test]
    fn a_command_is_split_once_and_then_filled() {
        assert_eq!(filled("cp {in} {out}"), ["cp", "<{in} 1>", "<{out} 1>"]);
        assert_eq!(filled("'my prog' --a='b c' x\\ y"), ["my prog", "--a=b c", "x y"]);
        assert_eq!(
            filled("p a{in2}b{index}c '' {{{shape}}} {{in}}"),
            ["p", "a<{in2} 1>b<{index} 1>c", "", "{<{shape} 1>}", "{in}"]
        );
        assert_eq!(filled("p '{dtype} {dir}/x'"), ["p", "<{dtype} 1> <{dir} 1>/x"]);
    }

    #[test]
    fn mistakes_are_named() {
        for (command, why) in [
            ("", "it is empty"),
            ("  ", "it is empty"),
            ("'' {out}", "the name of the program is empty"),
            ("{in} {out}", "the program has a placeholder"),
            ("cp {input}", "no placeholder {input}"),
            ("cp {in-1}", "no placeholder {in-1}"),
            ("cp {in+1}", "no placeholder {in+1}"),
            ("cp {in99999999999999999999}", "no placeholder"),
            ("cp {}", "no placeholder {}"),
            ("cp {in", "lone {"),
            ("cp in}", "lone }"),
            ("cp {in{out}", "lone {"),
            ("cp 'a", "a quote is not closed"),
            ("cp a\0b", "value 0"),
        ] {
            let error = Template::parse(command).unwrap_err();
            assert!(error.contains(why), "{command}: {error}");
        }
    }
}
