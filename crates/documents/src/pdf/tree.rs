//! The pages of a PDF, in order: the leaves of the page tree.

use std::collections::HashSet;
use std::rc::Rc;

use super::file::File;
use super::object::{Dict, Object};
use crate::fault::{self, Unreadable};

/// More than the longest books have.
const PAGES_MAX: usize = 10_000;
/// Maximum nodes, including invalid ones.
const NODES_MAX: usize = 100_000;
const LEVELS_MAX: usize = 32;

#[derive(Debug, Clone)]
pub(super) struct PageNode {
    pub(super) dict: Dict,
    pub(super) resources: Dict,
    /// In degrees, clockwise.
    pub(super) rotation: f64,
}

/// Attributes that a node passes to its children.
#[derive(Debug, Clone, Default)]
struct Inherited {
    resources: Dict,
    rotation: f64,
}

struct Branch {
    kids: Rc<[Object]>,
    next: usize,
    inherited: Inherited,
}

/// Iterator over the remaining pages. Pages are not collected, because there may be many large
/// ones.
pub(super) struct Pages {
    branches: Vec<Branch>,
    seen: HashSet<u32>,
    nodes: usize,
    pages: usize,
}

impl Pages {
    pub(super) fn new(file: &mut File<'_>) -> Result<Pages, Unreadable> {
        let Some(root) = file.pages()? else { return Err(fault::DAMAGED) };
        let root = branch(file, &root, &Inherited::default())?;
        Ok(Pages { branches: vec![root], seen: HashSet::new(), nodes: 0, pages: 0 })
    }

    pub(super) fn next(&mut self, file: &mut File<'_>) -> Result<Option<PageNode>, Unreadable> {
        while let Some(branch_now) = self.branches.last_mut() {
            let Some(kid) = branch_now.kids.get(branch_now.next).cloned() else {
                self.branches.pop();
                continue;
            };
            branch_now.next += 1;
            self.nodes += 1;
            if NODES_MAX < self.nodes {
                return Err(fault::TOO_MANY_PAGES);
            }
            // Each node is visited once, which also ends cycles.
            let is_again = matches!(kid, Object::Ref(number) if !self.seen.insert(number));
            let inherited = branch_now.inherited.clone();
            let Some(dict) = file.resolve(&kid)?.dict().cloned().filter(|_| !is_again) else {
                continue;
            };
            if !dict.has("Kids") {
                self.pages += 1;
                if PAGES_MAX < self.pages {
                    return Err(fault::TOO_MANY_PAGES);
                }
                let Inherited { resources, rotation } = inheritance(file, &dict, &inherited)?;
                return Ok(Some(PageNode { dict, resources, rotation }));
            }
            if self.branches.len() < LEVELS_MAX {
                self.branches.push(branch(file, &dict, &inherited)?);
            }
        }
        Ok(None)
    }
}

fn branch(file: &mut File<'_>, dict: &Dict, above: &Inherited) -> Result<Branch, Unreadable> {
    let kids = file.get(dict, "Kids")?.array().cloned().unwrap_or_else(|| Rc::new([]));
    if NODES_MAX < kids.len() {
        return Err(fault::TOO_MANY_PAGES);
    }
    Ok(Branch { kids, next: 0, inherited: inheritance(file, dict, above)? })
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
