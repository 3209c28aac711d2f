//! The pages of a PDF, in order: the leaves of the page tree.

use std::collections::HashSet;
use std::rc::Rc;

use super::file::PdfFile;
use super::object::{PdfDict, PdfObject};
use crate::fault::{self, DocumentReadError};

/// More than the longest books have.
const PAGES_MAX: usize = 10_000;
/// Maximum nodes, including invalid ones.
const NODES_MAX: usize = 100_000;
const LEVELS_MAX: usize = 32;

#[derive(Debug, Clone)]
pub(super) struct PageNode {
    pub(super) dict: PdfDict,
    pub(super) resources: PdfDict,
    /// In degrees, clockwise.
    pub(super) rotation: f64,
}

/// Attributes that a node passes to its children.
#[derive(Debug, Clone, Default)]
struct InheritedAttributes {
    resources: PdfDict,
    rotation: f64,
}

struct TreeBranch {
    kids: Rc<[PdfObject]>,
    next: usize,
    inherited: InheritedAttributes,
}

/// Iterator over the remaining pages. Pages are not collected, because there may be many large
/// ones.
pub(super) struct PageCursor {
    branches: Vec<TreeBranch>,
    seen: HashSet<u32>,
    nodes: usize,
    pages: usize,
}

impl PageCursor {
    pub(super) fn new(file: &mut PdfFile<'_>) -> Result<PageCursor, DocumentReadError> {
        let Some(root) = file.page_tree_root()? else { return Err(fault::DAMAGED) };
        let root = open_branch(file, &root, &InheritedAttributes::default())?;
        Ok(PageCursor { branches: vec![root], seen: HashSet::new(), nodes: 0, pages: 0 })
    }

    pub(super) fn next(
        &mut self,
        file: &mut PdfFile<'_>,
    ) -> Result<Option<PageNode>, DocumentReadError> {
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
            let is_again = matches!(kid, PdfObject::Ref(number) if !self.seen.insert(number));
            let inherited = branch_now.inherited.clone();
            let Some(dict) = file.resolve(&kid)?.as_dict().cloned().filter(|_| !is_again) else {
                continue;
            };
            if !dict.has("Kids") {
                self.pages += 1;
                if PAGES_MAX < self.pages {
                    return Err(fault::TOO_MANY_PAGES);
                }
                let InheritedAttributes { resources, rotation } =
                    inherit_attributes(file, &dict, &inherited)?;
                return Ok(Some(PageNode { dict, resources, rotation }));
            }
            if self.branches.len() < LEVELS_MAX {
                self.branches.push(open_branch(file, &dict, &inherited)?);
            }
        }
        Ok(None)
    }
}

fn open_branch(
    file: &mut PdfFile<'_>,
    dict: &PdfDict,
    above: &InheritedAttributes,
) -> Result<TreeBranch, DocumentReadError> {
    let kids = file.get(dict, "Kids")?.as_array().cloned().unwrap_or_else(|| Rc::new([]));
    if NODES_MAX < kids.len() {
        return Err(fault::TOO_MANY_PAGES);
    }
    Ok(TreeBranch { kids, next: 0, inherited: inherit_attributes(file, dict, above)? })
}

fn inherit_attributes(
    file: &mut PdfFile<'_>,
    dict: &PdfDict,
    above: &InheritedAttributes,
) -> Result<InheritedAttributes, DocumentReadError> {
    let mut inherited = above.clone();
    if let Some(resources) = file.get(dict, "Resources")?.as_dict() {
        inherited.resources = resources.clone();
    }
    if let Some(rotation) = file.get(dict, "Rotate")?.as_number() {
        inherited.rotation = rotation.rem_euclid(360.0);
    }
    Ok(inherited)
}
