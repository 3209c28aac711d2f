//! The pages of a PDF, in their order: the leaves of a tree.

use std::collections::HashSet;

use super::file::File;
use super::object::{Dict, Object};
use crate::fault::{self, Unreadable};

/// More than the longest books have.
const PAGES_MAX: usize = 10_000;
/// Branches and leaves, and what is neither.
const NODES_MAX: usize = 100_000;
const LEVELS_MAX: usize = 64;

#[derive(Debug, Clone)]
pub(super) struct PageNode {
    pub(super) dict: Dict,
    pub(super) resources: Dict,
    /// In degrees, clockwise.
    pub(super) rotation: f64,
}

/// What a branch gives to its leaves.
#[derive(Debug, Clone, Default)]
struct Inherited {
    resources: Dict,
    rotation: f64,
}

struct Branch {
    kids: Vec<Object>,
    inherited: Inherited,
}

pub(super) fn pages(file: &mut File<'_>) -> Result<Vec<PageNode>, Unreadable> {
    let Some(root) = file.pages()? else { return Err(fault::DAMAGED) };
    let mut pages = Vec::new();
    let mut seen = HashSet::new();
    let mut nodes = 0;
    let mut branches = vec![branch(file, &root, &Inherited::default())?];
    while let Some(branch_now) = branches.last_mut() {
        let Some(kid) = branch_now.kids.pop() else {
            branches.pop();
            continue;
        };
        nodes += 1;
        if NODES_MAX < nodes {
            return Err(fault::TOO_MANY_PAGES);
        }
        // A page stands in the tree once. One that stands in itself would never end.
        let is_again = matches!(kid, Object::Ref(number) if !seen.insert(number));
        let inherited = branch_now.inherited.clone();
        let Some(dict) = file.resolve(&kid)?.dict().cloned().filter(|_| !is_again) else {
            continue;
        };
        if !dict.has("Kids") {
            let Inherited { resources, rotation } = inheritance(file, &dict, &inherited)?;
            pages.push(PageNode { dict, resources, rotation });
        } else if branches.len() < LEVELS_MAX {
            branches.push(branch(file, &dict, &inherited)?);
        }
        if PAGES_MAX < pages.len() {
            return Err(fault::TOO_MANY_PAGES);
        }
    }
    Ok(pages)
}

fn branch(file: &mut File<'_>, dict: &Dict, above: &Inherited) -> Result<Branch, Unreadable> {
    let kids = file.get(dict, "Kids")?;
    let kids = kids.array().map(|kids| kids.iter().rev().cloned().collect()).unwrap_or_default();
    Ok(Branch { kids, inherited: inheritance(file, dict, above)? })
}

fn inheritance(
    file: &mut File<'_>,
    dict: &Dict,
    above: &Inherited,
) -> Result<Inherited, Unreadable> {
    let mut inherited = above.clone();
    if let Some(resources) = file.get(dict, "Resources")?.dict() {
        inherited.resources = resources.clone();
    }
    if let Some(rotation) = file.get(dict, "Rotate")?.number() {
        inherited.rotation = rotation.rem_euclid(360.0);
    }
    Ok(inherited)
}
