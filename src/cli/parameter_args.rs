//! Options for the parameters of algorithms, made from the registry: a parameter of a new algorithm is an option at once.

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};
use rehome::algorithm::{Parameter, ParameterKind};
use rehome::{ClusterBuilder, algorithms};

/// The parameters that were given, by name.
#[derive(Debug, Default)]
pub(crate) struct ParameterArgs {
    given: Vec<(&'static str, String)>,
}

impl ParameterArgs {
    /// The description with these parameters.
    pub(crate) fn apply(&self, builder: ClusterBuilder) -> ClusterBuilder {
        self.given.iter().fold(builder, |builder, (name, value)| builder.parameter(name, value))
    }

    /// A number that was given, if it is one.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.given.iter().find(|(given, _)| *given == name)?.1.parse().ok()
    }
}

/// The parameters of all algorithms, each once, with the algorithms that have it.
fn parameters() -> Vec<(&'static Parameter, Vec<(&'static str, String)>)> {
    let mut all: Vec<(&'static Parameter, Vec<(&'static str, String)>)> = Vec::new();
    for algorithm in algorithms() {
        // An order of free slots comes about by edits.
        let chosen = algorithm.parameters.iter().filter(|parameter| parameter.kind != ParameterKind::FreeSlots);
        for parameter in chosen {
            let owner = (algorithm.name, parameter.default.to_string());
            match all.iter_mut().find(|(known, _)| known.name == parameter.name) {
                Some((_, owners)) => owners.push(owner),
                None => all.push((parameter, vec![owner])),
            }
        }
    }
    all
}

/// What an option means, and its default by algorithm.
fn help(parameter: &Parameter, owners: &[(&str, String)]) -> String {
    let names: Vec<_> = owners.iter().map(|(name, _)| *name).collect();
    let mut defaults: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, default) in owners {
        match defaults.iter_mut().find(|(known, _)| known == default) {
            Some((_, names)) => names.push(name),
            None => defaults.push((default, vec![name])),
        }
    }
    let default = match &defaults[..] {
        [(default, _)] => (*default).to_owned(),
        several => {
            let each: Vec<_> =
                several.iter().map(|(default, names)| format!("{default} for {}", names.join(" and "))).collect();
            each.join(", ")
        }
    };
    format!("For {}: {} (default: {default})", names.join(", "), parameter.meaning)
}

fn augment(command: Command) -> Command {
    parameters().into_iter().fold(command, |command, (parameter, owners)| {
        let option = Arg::new(parameter.name).long(parameter.name.replace('_', "-")).help(help(parameter, &owners));
        command.arg(match parameter.kind {
            ParameterKind::Word(words) => option.value_name("HOW").value_parser(words.to_vec()),
            _ => option.value_name("N").value_parser(clap::value_parser!(u64)),
        })
    })
}

impl Args for ParameterArgs {
    fn augment_args(command: Command) -> Command {
        augment(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        augment(command)
    }
}

impl FromArgMatches for ParameterArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut args = Self::default();
        args.update_from_arg_matches(matches)?;
        Ok(args)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for (parameter, _) in parameters() {
            let value = match parameter.kind {
                ParameterKind::Word(_) => matches.get_one::<String>(parameter.name).cloned(),
                _ => matches.get_one::<u64>(parameter.name).map(u64::to_string),
            };
            self.given.extend(value.map(|value| (parameter.name, value)));
        }
        Ok(())
    }
}
