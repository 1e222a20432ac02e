//! From clusters to rooms: what each algorithm takes of a description.

use super::anchor::{self, Anchor};
use super::jump::{self, Jump};
use super::lrh::{self, Lrh};
use super::maglev::{self, Maglev};
use super::modulo::{self, Modulo};
use super::multi_probe::{self, MultiProbe};
use super::rendezvous::{self, Rendezvous};
use super::ring::{self, Ring, token_count};
use super::sach::{self, Sach};
use super::{Estimate, HashedNode, Locate, NodeId};
use crate::cluster::{Cluster, Node};
use crate::error::{Error, Result};
use crate::hash::node_hash;

/// What a room does with a cluster that was built.
type Compiled = Result<Box<dyn Locate>>;

/// The nodes as algorithms see them that place on names. `tokens` tells how many a node has.
fn hashed(cluster: &Cluster, tokens: impl Fn(&Node) -> u32) -> Vec<HashedNode> {
    let hashed = |node: &Node| HashedNode {
        hash: node_hash(node.name()),
        quantum: node.quantum(),
        tokens: tokens(node),
        up: node.is_up(),
    };
    cluster.nodes().iter().map(hashed).collect()
}

/// The same for algorithms without a ring.
fn without_tokens(cluster: &Cluster) -> Vec<HashedNode> {
    hashed(cluster, |_| 0)
}

fn eligible(cluster: &Cluster) -> u64 {
    cluster.nodes().iter().filter(|node| node.is_eligible()).count() as u64
}

// ---- rings -----------------------------------------------------------------------------------------------------

/// The nodes with as many tokens as their weights give.
fn with_tokens(cluster: &Cluster) -> Vec<HashedNode> {
    let tokens = cluster.number("tokens");
    hashed(cluster, |node| token_count(tokens, node.weight()))
}

/// The tokens of all nodes that `counts` takes.
fn tokens(nodes: &[HashedNode], counts: impl Fn(&HashedNode) -> bool) -> u64 {
    nodes.iter().filter(|node| counts(node)).map(|node| u64::from(node.tokens)).sum()
}

pub(super) fn ring(cluster: &Cluster) -> Compiled {
    Ok(Box::new(Ring::new(&with_tokens(cluster))?))
}

pub(super) fn ring_estimate(cluster: &Cluster) -> Estimate {
    ring::estimate(tokens(&with_tokens(cluster), HashedNode::is_eligible))
}

pub(super) fn multi_probe(cluster: &Cluster) -> Compiled {
    Ok(Box::new(MultiProbe::new(&with_tokens(cluster), cluster.number("probes"))?))
}

pub(super) fn multi_probe_estimate(cluster: &Cluster) -> Estimate {
    multi_probe::estimate(tokens(&with_tokens(cluster), HashedNode::is_eligible), cluster.number("probes"))
}

/// By score every node keeps all its tokens, so that draining it equals its going down.
fn lrh_nodes(cluster: &Cluster) -> Vec<HashedNode> {
    if cluster.word("weight_by") == "tokens" {
        return with_tokens(cluster);
    }
    let tokens = cluster.number("tokens");
    hashed(cluster, |_| tokens)
}

pub(super) fn lrh(cluster: &Cluster) -> Compiled {
    let by_score = cluster.is_weighted() && cluster.word("weight_by") == "score";
    Ok(Box::new(Lrh::new(&lrh_nodes(cluster), cluster.number("window"), by_score)?))
}

pub(super) fn lrh_estimate(cluster: &Cluster) -> Estimate {
    let nodes = lrh_nodes(cluster);
    lrh::estimate(tokens(&nodes, |_| true), nodes.len() as u64, cluster.number("window"))
}

// ---- rendezvous ------------------------------------------------------------------------------------------------

pub(super) fn rendezvous(cluster: &Cluster) -> Compiled {
    Ok(Box::new(Rendezvous::new(&without_tokens(cluster), cluster.is_weighted())))
}

pub(super) fn rendezvous_estimate(cluster: &Cluster) -> Estimate {
    rendezvous::estimate(eligible(cluster), cluster.is_weighted())
}

// ---- tables ----------------------------------------------------------------------------------------------------

/// A node in a message.
fn quoted(cluster: &Cluster, position: u32) -> String {
    format!("node {:?}", cluster.nodes()[position as usize].name())
}

pub(super) fn maglev(cluster: &Cluster) -> Compiled {
    Ok(Box::new(Maglev::new(&without_tokens(cluster), cluster.number("size"))?))
}

pub(super) fn maglev_check(cluster: &Cluster) -> Result<()> {
    maglev::check(&without_tokens(cluster), cluster.number("size"), &|position| quoted(cluster, position))
}

pub(super) fn maglev_estimate(cluster: &Cluster) -> Estimate {
    maglev::estimate(eligible(cluster), cluster.number("size"))
}

pub(super) fn sach(cluster: &Cluster) -> Compiled {
    Ok(Box::new(Sach::new(&without_tokens(cluster), cluster.number("size"))?))
}

pub(super) fn sach_check(cluster: &Cluster) -> Result<()> {
    sach::check(&without_tokens(cluster), cluster.number("size"), &|position| quoted(cluster, position))
}

pub(super) fn sach_estimate(cluster: &Cluster) -> Estimate {
    let sum =
        |which: fn(&Node) -> bool| cluster.nodes().iter().filter(|node| which(node)).map(Node::weight).sum::<f64>();
    let (all, up) = (sum(|_| true), sum(Node::is_eligible));
    let configured = cluster.nodes().iter().filter(|node| node.weight() > 0.0).count() as u64;
    sach::estimate(configured, cluster.number("size"), if all > 0.0 { up / all } else { 0.0 })
}

// ---- numbered slots --------------------------------------------------------------------------------------------

/// The nodes that are up in the order of their slots, which have no gap.
fn by_slot(cluster: &Cluster) -> Box<[NodeId]> {
    let up = (0..).zip(cluster.nodes()).filter(|(_, node)| node.is_up());
    let mut slots: Vec<_> = up.map(|(position, node)| (node.slot(), NodeId::new(position))).collect();
    slots.sort_unstable();
    slots.into_iter().map(|(_, node)| node).collect()
}

/// Whether some node is not at the position of its slot.
fn needs_table(cluster: &Cluster) -> bool {
    (0..).zip(cluster.nodes()).any(|(position, node)| node.slot() != Some(position))
}

fn up(cluster: &Cluster) -> u32 {
    let up = cluster.nodes().iter().filter(|node| node.is_up()).count();
    u32::try_from(up).unwrap_or(u32::MAX)
}

#[expect(clippy::unnecessary_wraps, reason = "the type of all rooms")]
pub(super) fn jump(cluster: &Cluster) -> Compiled {
    Ok(Box::new(Jump::new(by_slot(cluster))))
}

pub(super) fn jump_estimate(cluster: &Cluster) -> Estimate {
    jump::estimate(up(cluster), needs_table(cluster))
}

#[expect(clippy::unnecessary_wraps, reason = "the type of all rooms")]
pub(super) fn modulo(cluster: &Cluster) -> Compiled {
    Ok(Box::new(Modulo::new(by_slot(cluster))))
}

pub(super) fn modulo_estimate(cluster: &Cluster) -> Estimate {
    modulo::estimate(up(cluster), needs_table(cluster))
}

pub(super) fn anchor(cluster: &Cluster) -> Compiled {
    let slots = cluster.slots();
    let removed = slots.removed();
    // Only slots in use are asked for, and those that are not may stay NONE.
    let tabled = removed.tabled(slots.size());
    let mut nodes = Vec::new();
    if needs_table(cluster) {
        nodes.try_reserve_exact(tabled as usize).map_err(|_| {
            let what = format!("a table of {tabled} slots is more than the memory holds");
            Error::invalid(what, "use a smaller capacity")
        })?;
        nodes.resize(tabled as usize, NodeId::NONE);
        for (position, node) in (0..).zip(cluster.nodes()) {
            if let Some(place) = node.slot().and_then(|slot| nodes.get_mut(slot as usize)) {
                *place = NodeId::new(position);
            }
        }
    }
    let node_of_slot = |slot: u32| nodes.get(slot as usize).copied().unwrap_or(NodeId::new(slot));
    Ok(Box::new(Anchor::new(slots.size(), removed.iter(), node_of_slot)?))
}

pub(super) fn anchor_estimate(cluster: &Cluster) -> Estimate {
    let slots = cluster.slots();
    anchor::estimate(slots.size(), slots.removed().tabled(slots.size()), up(cluster), needs_table(cluster))
}
