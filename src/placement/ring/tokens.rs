//! The sorted ring that `ring`, `multi-probe` and `lrh` share, with an index that finds successors.
//!
//! Tokens are spread evenly over the 2^32 words, so the top bits of a word say almost where its successor is. The words
//! are cut into as many equal parts (buckets) as give each one or two tokens, and the index holds for every bucket how
//! many tokens lie below it. What is left is a short scan:
//!
//! ```text
//! at = before[word >> shift]
//! at += how many of tokens[at .. at + 4] are below word       (always 4 of them, so no branch depends on the key)
//! if all 4 were: binary search in the rest of the bucket      (rare, but a bucket may hold the whole ring)
//! ```
//!
//! The scan may read tokens of later buckets. They are above the word and count nothing.

use crate::error::{Error, Result};
use crate::hash::halves;
use crate::placement::{HashedNode, NodeId};

use super::scalar::tokens_of;

/// Tokens that every search looks at.
const SCAN: usize = 4;

/// A ring of tokens: 32-bit places, each of a node, in ascending order.
///
/// Equal tokens stand in the order of their nodes' hashes. A *position* is an index into that order.
///
/// # Complexity
/// Building sorts: O(tokens * log tokens). 10 to 12 bytes per token stay, and 16 are held while it is built.
///
/// Source: `spec/placement.md`, "Rings".
///
/// ```
/// use rehome::placement::{HashedNode, ring::TokenRing};
///
/// let node = |hash| HashedNode { hash, quantum: 65_536, tokens: 100, up: true };
/// let ring = TokenRing::new(&[node(1), node(2)], HashedNode::is_eligible)?;
/// assert_eq!((ring.len(), ring.distinct_nodes()), (200, 2));
/// assert!(ring.token(ring.successor(1 << 31)) >= 1 << 31);
/// # Ok::<(), rehome::Error>(())
/// ```
#[derive(Debug)]
pub struct TokenRing {
    /// Ascending; behind the last stand `SCAN` of the largest word, so that a search may read on.
    tokens: Box<[u32]>,
    /// The node of each token.
    nodes: Box<[NodeId]>,
    /// For each bucket the number of tokens below it, then the number of all.
    before: Box<[u32]>,
    /// How far a word is shifted to become its bucket; 32 where there is only one.
    shift: u32,
    distinct: u32,
}

impl TokenRing {
    /// The ring of the tokens of those nodes that `keep` accepts. A node's position in the slice is its [`NodeId`].
    ///
    /// # Complexity
    /// O(nodes + tokens * log tokens).
    ///
    /// # Errors
    /// More than 2^32 - 1 nodes or tokens, or not enough memory.
    pub fn new(nodes: &[HashedNode], keep: impl Fn(&HashedNode) -> bool) -> Result<Self> {
        let too_many = || {
            let what = format!("{} nodes are more than a ring can hold", nodes.len());
            Error::invalid(what, "a ring has at most 4294967295 nodes")
        };
        u32::try_from(nodes.len()).map_err(|_| too_many())?;
        let kept = || (0_u32..).zip(nodes).filter(|(_, node)| keep(node));
        let count = kept().map(|(_, node)| u64::from(node.tokens)).sum();
        let mut words = reserved(checked(count)?, count)?;
        let mut distinct = 0;
        for (id, node) in kept() {
            let word = |token| u64::from(token) << 32 | u64::from(id);
            words.extend(tokens_of(node).map(word));
            distinct += u32::from(node.tokens > 0);
        }
        Self::of_words(words, distinct, |id| nodes[id as usize].hash)
    }

    /// From words with a token in the high half and its node in the low one, in any order.
    fn of_words(mut words: Vec<u64>, distinct: u32, hash: impl Fn(u32) -> u64) -> Result<Self> {
        words.sort_unstable();
        for equal in words.chunk_by_mut(|one, next| one >> 32 == next >> 32) {
            if equal.len() > 1 {
                equal.sort_unstable_by_key(|word| (hash(halves(*word).0), *word));
            }
        }
        let count = words.len() as u64;
        let mut tokens = reserved(words.len() + SCAN, count)?;
        tokens.extend(words.iter().map(|word| halves(*word).1));
        let mut nodes = reserved(words.len(), count)?;
        nodes.extend(words.iter().map(|word| NodeId::new(halves(*word).0)));
        drop(words);

        let shift = 32 - bucket_bits(count);
        let mut before = reserved((1 << bucket_bits(count)) + 1, count)?;
        before.resize((1 << bucket_bits(count)) + 1, 0);
        for token in &tokens {
            before[bucket(*token, shift) + 1] += 1;
        }
        let mut sum = 0;
        for tokens_in_it in &mut before {
            sum += *tokens_in_it;
            *tokens_in_it = sum;
        }
        tokens.resize(tokens.len() + SCAN, u32::MAX);
        Ok(Self {
            tokens: tokens.into_boxed_slice(),
            nodes: nodes.into_boxed_slice(),
            before: before.into_boxed_slice(),
            shift,
            distinct,
        })
    }

    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there is no token.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The number of nodes that have a token.
    pub fn distinct_nodes(&self) -> u32 {
        self.distinct
    }

    /// The position of the first token at or above the word; behind the last token that is position 0.
    ///
    /// # Complexity
    /// One read of the index and one of 4 tokens, whatever the word. Where more of a bucket's tokens are below the word,
    /// O(log tokens of the bucket) more.
    #[inline(always)]
    pub fn successor(&self, word: u32) -> usize {
        let bucket = bucket(word, self.shift);
        let start = self.before[bucket] as usize;
        let scanned = &self.tokens[start..start + SCAN];
        let below: usize = scanned.iter().map(|token| usize::from(*token < word)).sum();
        let at = if below < SCAN { start + below } else { self.search_bucket(word, bucket) };
        if at == self.len() { 0 } else { at }
    }

    /// The position behind the bucket's tokens that are below the word.
    #[cold]
    #[inline(never)]
    fn search_bucket(&self, word: u32, bucket: usize) -> usize {
        let (start, end) = (self.before[bucket] as usize, self.before[bucket + 1] as usize);
        start + self.tokens[start..end].partition_point(|token| *token < word)
    }

    /// The token at a position.
    ///
    /// # Panics
    /// If there is none.
    #[inline(always)]
    pub fn token(&self, position: usize) -> u32 {
        self.tokens[position]
    }

    /// The node of the token at a position.
    ///
    /// # Panics
    /// If there is none.
    #[inline(always)]
    pub fn node(&self, position: usize) -> NodeId {
        self.nodes[position]
    }

    /// The position behind this one, all around the ring.
    #[inline(always)]
    pub fn next(&self, position: usize) -> usize {
        if position + 1 == self.len() { 0 } else { position + 1 }
    }

    /// The nodes of all tokens, once around the ring from a position on. Nodes with several tokens come several times.
    ///
    /// # Panics
    /// If the position is behind the end.
    #[inline(always)]
    pub fn walk(&self, position: usize) -> impl Iterator<Item = NodeId> {
        let (behind, from_here) = self.nodes.split_at(position);
        from_here.iter().chain(behind).copied()
    }

    /// The bytes that a lookup may touch.
    pub fn memory_bytes(&self) -> u64 {
        (size_of_val(&*self.tokens) + size_of_val(&*self.nodes) + size_of_val(&*self.before)) as u64
    }

    /// The bytes of a ring of so many tokens, and the most that are held while it is built.
    pub(in crate::placement) fn bytes_of(tokens: u64) -> (u64, u64) {
        let arrays = tokens.saturating_mul(8).saturating_add(4 * SCAN as u64);
        let index = ((1 << bucket_bits(tokens)) + 1) * 4;
        (arrays.saturating_add(index), arrays.saturating_add(index.max(tokens.saturating_mul(8))))
    }

    /// A ring of given tokens, for tests; the hash of a node is its number.
    #[cfg(test)]
    pub(in crate::placement) fn of_tokens(tokens: &[(u32, u32)]) -> Self {
        let words = tokens.iter().map(|(token, node)| u64::from(*token) << 32 | u64::from(*node)).collect();
        let distinct = tokens.iter().map(|(_, node)| node).collect::<std::collections::HashSet<_>>().len();
        Self::of_words(words, u32::try_from(distinct).unwrap(), u64::from).unwrap()
    }
}

/// The bucket of a word.
#[inline(always)]
fn bucket(word: u32, shift: u32) -> usize {
    // In 64 bits, where a shift by 32 gives 0.
    #[expect(clippy::cast_possible_truncation, reason = "a bucket is below 2^31")]
    let bucket = (u64::from(word) >> shift) as usize;
    bucket
}

/// How many bits number the buckets of so many tokens: 2^bits is at most the number of tokens, and more than half of it.
fn bucket_bits(tokens: u64) -> u32 {
    tokens.checked_ilog2().unwrap_or(0).min(31)
}

/// The number of tokens, if a ring can have so many.
fn checked(tokens: u64) -> Result<usize> {
    let fits = u32::try_from(tokens).ok().and_then(|tokens| usize::try_from(tokens).ok());
    fits.ok_or_else(|| {
        let what = format!("{tokens} tokens are more than a ring can hold");
        Error::invalid(what, "give each node fewer tokens, so that all together are at most 4294967295")
    })
}

/// An empty vector with room for `length` values of a ring of so many tokens.
fn reserved<T>(length: usize, tokens: u64) -> Result<Vec<T>> {
    let mut vector = Vec::new();
    vector.try_reserve_exact(length).map_err(|_| {
        let what = format!("a ring of {tokens} tokens does not fit into memory");
        Error::invalid(what, "give each node fewer tokens")
    })?;
    Ok(vector)
}

/// How many tokens a node of this weight has, of which one of weight 1 has `tokens_per_node`: none for weight 0, else
/// `floor(tokens_per_node * weight + 0.5)`, but at least 1 and at most 2^32 - 1.
///
/// A weight that is negative or not a number, which no cluster accepts, gives 1.
///
/// Source: `spec/placement.md`, "Rings".
///
/// ```
/// use rehome::placement::ring::token_count;
///
/// assert_eq!([0.0, 0.001, 1.0, 2.5].map(|weight| token_count(25, weight)), [0, 1, 25, 63]);
/// ```
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the conversion saturates")]
pub fn token_count(tokens_per_node: u32, weight: f64) -> u32 {
    if weight == 0.0 { 0 } else { ((f64::from(tokens_per_node) * weight + 0.5).floor() as u32).max(1) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::fmix64;
    use crate::placement::ring::scalar;
    use crate::placement::ring::testing::*;

    fn pairs(ring: &TokenRing) -> Vec<(u32, NodeId)> {
        (0..ring.len()).map(|position| (ring.token(position), ring.node(position))).collect()
    }

    #[test]
    fn it_is_the_sorted_list() {
        for (name, nodes) in clusters() {
            let (ring, literal) = (TokenRing::new(&nodes, |_| true).unwrap(), scalar::sorted(&nodes));
            assert_eq!(pairs(&ring), literal, "{name}");
            let with_tokens = nodes.iter().filter(|node| node.tokens > 0).count();
            assert_eq!(ring.distinct_nodes() as usize, with_tokens, "{name}");
            let kept = TokenRing::new(&nodes, HashedNode::is_eligible).unwrap();
            let eligible = |node: &NodeId| nodes[node.raw() as usize].is_eligible();
            let expected: Vec<_> = literal.into_iter().filter(|(_, node)| eligible(node)).collect();
            assert_eq!(pairs(&kept), expected, "{name}");
        }
    }

    #[test]
    fn successors_and_walks_are_those_of_the_list() {
        for (name, nodes) in clusters() {
            let (ring, literal) = (TokenRing::new(&nodes, |_| true).unwrap(), scalar::sorted(&nodes));
            for word in some_digests(&literal).into_iter().map(|digest| halves(digest).0) {
                let at = scalar::successor(&literal, word);
                assert_eq!(ring.successor(word), at, "{name}, word {word}");
                let nodes = scalar::around(&literal, word).map(|(_, node)| node);
                assert!(ring.walk(at).eq(nodes), "{name}, word {word}");
            }
            let mut at = 0;
            for expected in (0..ring.len()).cycle().take(ring.len() * 2) {
                assert_eq!(at, expected);
                at = ring.next(at);
            }
        }
    }

    #[test]
    fn every_word_of_a_small_range_finds_its_successor() {
        // Buckets with 0 to 9 tokens, and a word at every place in them.
        let tokens: Vec<_> = (0..200).map(|i| ((halves(fmix64(i)).0 % 300) << 20, 0)).collect();
        let ring = TokenRing::of_tokens(&tokens);
        let literal = pairs(&ring);
        for step in 0..4096_u32 {
            for word in [step << 20, (step << 20) + 1, (step << 20).wrapping_sub(1)] {
                assert_eq!(ring.successor(word), scalar::successor(&literal, word), "word {word}");
            }
        }
    }

    #[test]
    fn a_million_tokens_have_short_buckets() {
        let nodes: Vec<_> =
            (0..4096).map(|i| HashedNode { hash: fmix64(i), quantum: 1, tokens: 256, up: true }).collect();
        let ring = TokenRing::new(&nodes, |_| true).unwrap();
        assert_eq!((ring.len(), ring.before.len()), (1 << 20, (1 << 20) + 1));
        assert!(ring.before.windows(2).all(|pair| pair[1] - pair[0] < 16));
        for word in (0..200_000).map(|i| halves(fmix64(i)).0) {
            let at = ring.successor(word);
            assert_eq!(at, ring.tokens[..ring.len()].partition_point(|token| *token < word) % ring.len());
        }
    }

    #[test]
    fn the_tokens_are_the_golden_ones() {
        let vectors = vectors();
        let cases = [
            ("tokens_16", golden_nodes(&vectors, 16)),
            ("tokens_1", golden_nodes(&vectors, 1)),
            ("tokens_25_weighted", golden_weighted_nodes(&vectors, |weight| token_count(25, weight))),
        ];
        for (name, nodes) in cases {
            let golden = tokens(&vectors[name]);
            assert_eq!(scalar::sorted(&nodes), golden, "{name}");
            assert_eq!(pairs(&TokenRing::new(&nodes, |_| true).unwrap()), golden, "{name}");
        }
    }

    #[test]
    fn equal_tokens_stand_in_the_order_of_hashes() {
        let words = [(7, 0), (7, 1), (3, 2)].map(|(token, node): (u64, u64)| token << 32 | node);
        let ring = TokenRing::of_words(words.to_vec(), 3, |node| [900, 100, 500][node as usize]).unwrap();
        let sorted: Vec<_> = ring.walk(0).collect();
        assert_eq!(sorted, node_list(&vectors()["edge"]["equal_tokens"]["sorted"]));
    }

    #[test]
    fn the_token_counts_are_the_golden_ones() {
        let vectors = vectors();
        let cases = vectors["weight_to_tokens"].as_array().unwrap();
        assert_eq!(cases.len(), 5);
        for case in cases {
            let (tokens_per_node, weight) = (node(&case[0]).raw(), case[1].as_f64().unwrap());
            assert_eq!(token_count(tokens_per_node, weight), node(&case[2]).raw(), "{case}");
        }
        assert_eq!(token_count(u32::MAX, 65_535.0), u32::MAX);
        assert_eq!(token_count(u32::MAX, 1.0), u32::MAX);
        assert_eq!(token_count(1, 1e-300), 1);
        assert_eq!(token_count(25, 0.58), 14, "the product is rounded before 0.5 is added");
    }

    #[test]
    fn too_many_tokens_are_an_error() {
        let node = |hash| HashedNode { hash, quantum: 1, tokens: u32::MAX, up: true };
        let error = TokenRing::new(&[node(1), node(2)], |_| true).unwrap_err().to_string();
        assert!(error.contains("8589934590 tokens"), "{error}");
        // Left out, they are no matter.
        assert!(TokenRing::new(&[node(1), node(2)], |_| false).unwrap().is_empty());
        let error = reserved::<u64>(usize::MAX, 7).unwrap_err().to_string();
        assert!(error.contains("memory"), "{error}");
    }
}
