//! The values of an algorithm's parameters, as a file, an option or a caller gives them.

use crate::algorithm::{Algorithm, DefaultValue, Parameter, ParameterKind};
use crate::error::{Error, Result};

/// A parameter's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Value {
    Number(u32),
    Word(&'static str),
}

/// The values of the parameters that are numbers or words. Slots and their order are in [`Slots`](super::Slots).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parameters {
    values: Vec<(&'static str, Value)>,
}

/// What was given for a new cluster, still as text.
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    values: Vec<(String, String)>,
    /// Whether it comes from a file, where what depends on the number of nodes must be said.
    pub(super) from_file: bool,
}

impl Given {
    pub(super) fn set(&mut self, algorithm: &Algorithm, name: &str, value: String) {
        let kind =
            |name: &str| algorithm.parameters.iter().find(|parameter| parameter.name == name).map(|found| found.kind);
        let is_new_size =
            kind(name) == Some(ParameterKind::Slots) && self.get(name).is_some_and(|before| before != value);
        self.values
            .retain(|(other, _)| other != name && !(is_new_size && kind(other) == Some(ParameterKind::FreeSlots)));
        self.values.push((name.to_owned(), value));
    }

    /// The text given for a parameter.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(present, _)| present == name).map(|(_, value)| value.as_str())
    }

    /// Fails at the first that the algorithm does not have.
    pub(super) fn check_names(&self, algorithm: &Algorithm) -> Result<()> {
        self.values.iter().try_for_each(|(name, _)| algorithm.parameter(name).map(drop))
    }

    /// The number given for a parameter, or its default for so many nodes.
    pub(super) fn number(&self, algorithm: &Algorithm, parameter: &Parameter, nodes: usize) -> Result<u64> {
        if let Some(text) = self.get(parameter.name) {
            return text.parse().map_err(|_| {
                Error::invalid(format!("{} is {text:?}, which is no number", parameter.name), "write a whole number")
            });
        }
        match parameter.default {
            DefaultValue::Number(number) => Ok(u64::from(number)),
            DefaultValue::OfNodes { value, .. } if !self.from_file => value(nodes as u64),
            _ => {
                let (name, algorithm) = (parameter.name, algorithm.name);
                Err(Error::invalid(
                    format!("{} is missing: {algorithm} needs it", missing(parameter)),
                    format!("add a table [{algorithm}] with {name} = N"),
                ))
            }
        }
    }
}

fn missing(parameter: &Parameter) -> String {
    match parameter.kind {
        ParameterKind::Slots => "the number of slots".to_owned(),
        _ => format!("the {}", parameter.name),
    }
}

impl Parameters {
    /// The numbers and words of an algorithm, from what was given.
    pub(super) fn of(algorithm: &Algorithm, given: &Given, nodes: usize) -> Result<Self> {
        let mut values = Vec::new();
        for parameter in algorithm.parameters {
            match parameter.kind {
                ParameterKind::Slots | ParameterKind::FreeSlots => {}
                ParameterKind::Number { least, most } => {
                    let number = given.number(algorithm, parameter, nodes)?;
                    let fits = u32::try_from(number).ok().filter(|number| (least..=most).contains(number));
                    let number = fits.ok_or_else(|| {
                        let (algorithm, name) = (algorithm.name, parameter.name);
                        Error::invalid(
                            format!("{algorithm} has {name} = {number}"),
                            format!("it must be {least} to {most}; the default is {}", parameter.default),
                        )
                    })?;
                    values.push((parameter.name, Value::Number(number)));
                }
                ParameterKind::Word(words) => {
                    let text = given.get(parameter.name);
                    let default = match parameter.default {
                        DefaultValue::Word(word) => word,
                        _ => words.first().copied().unwrap_or_default(),
                    };
                    let text = text.unwrap_or(default);
                    let word = words.iter().find(|word| **word == text).ok_or_else(|| {
                        let (algorithm, name) = (algorithm.name, parameter.name);
                        Error::invalid(
                            format!("{algorithm} has {name} = {text:?}"),
                            format!("it must be {}", words.join(" or ")),
                        )
                    })?;
                    values.push((parameter.name, Value::Word(word)));
                }
            }
        }
        Ok(Self { values })
    }

    fn get(&self, name: &str) -> Option<Value> {
        self.values.iter().find(|(present, _)| *present == name).map(|(_, value)| *value)
    }

    /// A number; none if the algorithm has none of this name.
    pub(super) fn number(&self, name: &str) -> Option<u32> {
        match self.get(name)? {
            Value::Number(number) => Some(number),
            Value::Word(_) => None,
        }
    }

    /// A word; none if the algorithm has none of this name.
    pub(super) fn word(&self, name: &str) -> Option<&'static str> {
        match self.get(name)? {
            Value::Word(word) => Some(word),
            Value::Number(_) => None,
        }
    }
}
