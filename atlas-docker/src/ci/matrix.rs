//! The combinations of a matrix.
//!
//! GitHub's rules: `exclude` goes first; each object of `include` is added to all combinations of which it changes
//! no value of the matrix's own lists, and is a combination of its own where there is none.

use super::Placed;
use super::job::{Job, other_system};
use super::yaml::Node;

/// Most combinations of one job; GitHub's own limit.
const MOST: usize = 256;

/// What one run of a job has for the keys of its matrix.
pub(super) type Combination = Vec<(Placed, Node)>;

/// The combinations of a GitHub matrix, in GitHub's order.
pub(super) fn of_github(matrix: &Node) -> Vec<Combination> {
    let own = matrix
        .entries()
        .iter()
        .filter(|(key, _)| !["include", "exclude"].contains(&key.text.as_str()));
    let mut made = product(own);
    let excluded = matrix.get("exclude").map(Node::items).unwrap_or_default();
    made.retain(|one| !excluded.iter().any(|what| is_part(what.entries(), one)));
    let originals = made.clone();
    for added in matrix.get("include").map(Node::items).unwrap_or_default() {
        let mut taken = false;
        for (one, original) in made.iter_mut().zip(&originals) {
            if !overwrites(added.entries(), original) {
                taken = true;
                for (key, value) in added.entries() {
                    one.retain(|(known, _)| known.text != key.text);
                    one.push((key.clone(), value.clone()));
                }
            }
        }
        if !taken && made.len() < MOST && !added.entries().is_empty() {
            made.push(added.entries().to_vec());
        }
    }
    made
}

/// Each value of each key with each of the others; nothing of no keys.
pub(super) fn product<'a>(entries: impl Iterator<Item = &'a (Placed, Node)>) -> Vec<Combination> {
    let mut made: Vec<Combination> = Vec::new();
    for (at, (key, value)) in entries.enumerate() {
        let values = values(value);
        if at == 0 {
            made.push(Vec::new());
        }
        if values.is_empty() {
            continue;
        }
        made = made
            .iter()
            .flat_map(|one| {
                values.iter().map(|value| {
                    let mut one = one.clone();
                    one.push((key.clone(), value.clone()));
                    one
                })
            })
            .take(MOST)
            .collect();
    }
    made
}

/// The values of a key: a list's items, or the one that stands there.
fn values(node: &Node) -> Vec<Node> {
    match node {
        Node::List(items) => items.clone(),
        Node::Scalar { line, .. } => {
            let listed = node.scalar("").map(|value| super::job::json_list(&value));
            let listed = listed.unwrap_or_default().into_iter();
            let listed: Vec<Node> = listed
                .map(|value| Node::Scalar {
                    text: value.text,
                    line: *line,
                })
                .collect();
            if listed.is_empty() {
                vec![node.clone()]
            } else {
                listed
            }
        }
        Node::Map(_) => vec![node.clone()],
    }
}

/// Whether a combination has all of these values.
fn is_part(what: &[(Placed, Node)], one: &Combination) -> bool {
    !what.is_empty()
        && what.iter().all(|(key, value)| {
            let known = one.iter().find(|(known, _)| known.text == key.text);
            known.is_some_and(|(_, known)| same(value, known))
        })
}

/// Whether one of these values is another than the combination has.
fn overwrites(what: &[(Placed, Node)], one: &Combination) -> bool {
    what.iter().any(|(key, value)| {
        let known = one.iter().find(|(known, _)| known.text == key.text);
        known.is_some_and(|(_, known)| !same(value, known))
    })
}

/// Whether two values are one; where they stand does not matter, nor does the order of a map. Of an excluded
/// map only what it names counts, as for whole combinations.
fn same(one: &Node, other: &Node) -> bool {
    match (one, other) {
        (Node::Scalar { text: one, .. }, Node::Scalar { text: other, .. }) => {
            one.trim() == other.trim()
        }
        (Node::List(one), Node::List(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Node::Map(one), Node::Map(_)) => one.iter().all(|(key, value)| {
            let known = other.get(&key.text);
            known.is_some_and(|known| same(value, known))
        }),
        _ => false,
    }
}

/// Tells a job its combinations. Those that name another system are for that system and are left out, unless there
/// are no others.
pub(super) fn bind(job: &mut Job, file: &str, combinations: Vec<Combination>) {
    let foreign = |one: &Combination| one.iter().any(|(_, value)| other_system(&value.all_text()));
    let here = combinations.iter().any(|one| !foreign(one));
    for one in combinations {
        if !(here && foreign(&one)) {
            job.combination(file, &one);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::yaml::load;
    use super::of_github;

    fn check(matrix: &str, expected: &[&str]) {
        let matrix = load("ci.yml", matrix).unwrap();
        let told: Vec<String> = of_github(&matrix)
            .iter()
            .map(|one| {
                let mut pairs: Vec<String> = one
                    .iter()
                    .map(|(key, value)| format!("{}={}", key.text, value.all_text()))
                    .collect();
                pairs.sort();
                pairs.join(" ")
            })
            .collect();
        assert_eq!(told, expected);
    }

    /// The example of GitHub's own documentation, with the combinations that it names.
    #[test]
    fn objects_are_added_where_they_change_nothing_of_the_matrix() {
        check(
            "fruit: [apple, pear]\nanimal: [cat, dog]\ninclude:\n  - color: green\n  \
             - color: pink\n    animal: cat\n  - fruit: apple\n    shape: circle\n  - fruit: banana\n  \
             - fruit: banana\n    animal: cat\n",
            &[
                "animal=cat color=pink fruit=apple shape=circle",
                "animal=dog color=green fruit=apple shape=circle",
                "animal=cat color=pink fruit=pear",
                "animal=dog color=green fruit=pear",
                "fruit=banana",
                "animal=cat fruit=banana",
            ],
        );
    }

    #[test]
    fn what_is_excluded_goes_before_anything_is_included() {
        // A part of a combination excludes all that have it, and `include` brings one back.
        check(
            "os: [a, b]\nv: [1, 2]\nexclude:\n  - os: a\n  - os: b\n    v: 2\ninclude:\n  - os: a\n    v: 1\n",
            &["os=b v=1", "os=a v=1"],
        );
        check("v: [1]\nexclude:\n  - v: 1\n", &[]);
        // A map is excluded by what is named of it.
        check(
            "on: [{os: a, x: 1}, {os: b, x: 1}]\nexclude:\n  - on: {os: a}\n",
            &["on=b 1"],
        );
    }

    #[test]
    fn a_matrix_of_objects_alone_is_these() {
        check(
            "include:\n  - v: 1\n    x: y\n  - v: 2\n",
            &["v=1 x=y", "v=2"],
        );
        check("include: ${{ fromJSON(needs.x.outputs.y) }}\n", &[]);
    }

    #[test]
    fn lists_in_expressions_are_lists() {
        check(
            "v: ${{ fromJSON('[\"1\", 2]') }}\ninclude:\n  - v: 2\n    x: y\n",
            &["v=1", "v=2 x=y"],
        );
    }

    #[test]
    fn a_matrix_has_an_end() {
        let list = format!("[{}]", ["x"; 40].join(", "));
        let matrix = load("ci.yml", &format!("a: {list}\nb: {list}\nc: {list}\n")).unwrap();
        assert_eq!(of_github(&matrix).len(), super::MOST);
    }
}
