//! A node of a cluster, as the user describes it.

use std::sync::Arc;

use crate::algorithm::{Algorithm, Weights, names_of};
use crate::error::{Error, ErrorKind, Result};

/// A node: a name, and what the user says about it.
///
/// ```
/// use rehome::Node;
///
/// let node = Node::new("cache-a").with_weight(0.5).with_zone("dc1/rack2");
/// assert!(node.is_eligible());
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub(super) name: Box<str>,
    pub(super) weight: f64,
    pub(super) zone: Option<Arc<str>>,
    pub(super) up: bool,
    pub(super) slot: Option<u32>,
}

/// The largest weight: its quantum still fits 32 bits.
const MOST_WEIGHT: f64 = 65_535.0;

impl Node {
    /// A node that is up, with weight 1, in a zone of its own, and in no slot yet.
    pub fn new(name: impl Into<Box<str>>) -> Self {
        Self { name: name.into(), weight: 1.0, zone: None, up: true, slot: None }
    }

    /// The same node with this weight (0: configured, but given no keys).
    #[must_use]
    pub fn with_weight(mut self, weight: f64) -> Self {
        self.weight = weight;
        self
    }

    /// The same node in this zone, a path such as `dc1/rack2`; zones are compared as whole strings.
    #[must_use]
    pub fn with_zone(mut self, zone: impl Into<Arc<str>>) -> Self {
        self.zone = Some(zone.into());
        self
    }

    /// The same node in this slot. Without one it gets the next slot of the queue.
    #[must_use]
    pub fn with_slot(mut self, slot: u32) -> Self {
        self.slot = Some(slot);
        self
    }

    /// The same node, up or down.
    #[must_use]
    pub fn with_up(mut self, up: bool) -> Self {
        self.up = up;
        self
    }

    /// Its name: the identity by which plans match nodes.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its weight, 0 to 65535.
    pub fn weight(&self) -> f64 {
        self.weight
    }

    /// Its zone. A node without one is a zone of its own.
    pub fn zone(&self) -> Option<&str> {
        self.zone.as_deref()
    }

    /// Whether it is up. A node that is down keeps its slot.
    pub fn is_up(&self) -> bool {
        self.up
    }

    /// Its slot, for algorithms that place on slots.
    pub fn slot(&self) -> Option<u32> {
        self.slot
    }

    /// Whether it can get keys: up, and with a weight above 0.
    pub fn is_eligible(&self) -> bool {
        self.up && self.weight > 0.0
    }

    /// The weight in units of 1/65536: 0 for 0, else at least 1.
    ///
    /// Source: `spec/placement.md`, "Nodes".
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked weights are 0 to 65535")]
    pub fn quantum(&self) -> u32 {
        if self.weight == 0.0 { 0 } else { ((self.weight * 65536.0 + 0.5).floor() as u32).max(1) }
    }

    /// What is wrong with the node by itself, under this algorithm.
    pub(super) fn check(&self, algorithm: &Algorithm) -> Result<()> {
        if self.name.is_empty() {
            return Err(Error::invalid("a node has an empty name", "give every node a name"));
        }
        if self.zone() == Some("") {
            let what = format!("node {:?} has an empty zone", self.name);
            return Err(Error::invalid(what, "leave the zone out, and the node is a zone of its own"));
        }
        let weight = self.weight;
        let name = algorithm.name;
        let reason = if weight.is_nan() || weight.is_infinite() {
            "a weight is a finite number".to_owned()
        } else if weight < 0.0 {
            "a weight is 0 (drained) or more".to_owned()
        } else {
            match algorithm.weights {
                Weights::One if weight != 1.0 => {
                    let with_weights = names_of(|other| other.weights != Weights::One);
                    format!("{name} takes no weights, only 1: use `down` to take a node out, or one of {with_weights}")
                }
                Weights::UpToOne if weight > 1.0 => {
                    format!("{name} takes weights of 0 (drained) to 1: divide all weights by the largest")
                }
                Weights::Any if weight > MOST_WEIGHT => format!("{name} takes weights of 0 (drained) to {MOST_WEIGHT}"),
                _ => return Ok(()),
            }
        };
        Err(ErrorKind::Weight { name: self.name.to_string(), weight, reason }.into())
    }
}
