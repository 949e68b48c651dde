//! What a first visit downloads, and the budget it must keep.

use anyhow::ensure;

use crate::site::Site;

/// Everything a first visit loads, under brotli. A classroom shares one line: thirty times this.
const BUDGET: usize = 2_000_000;

/// Lists the files and refuses a page beyond the budget; the answer is one line for a summary.
pub(crate) fn check(site: &Site) -> anyhow::Result<String> {
    let sizes: Vec<(&str, usize, usize)> = site
        .files
        .iter()
        .map(|(name, asset)| (&**name, asset.plain.len(), asset.brotli.as_ref().map_or(asset.plain.len(), Vec::len)))
        .collect();
    for (name, plain, sent) in &sizes {
        println!("  {name:20} {plain:>9} bytes, {sent:>9} under brotli");
    }
    let total: usize = sizes.iter().map(|(_, _, sent)| sent).sum();
    let line = format!("{:.3} of {:.1} MB under brotli", total as f64 / 1e6, BUDGET as f64 / 1e6);
    ensure!(total <= BUDGET, "the download is too large: {line}");
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::{BUDGET, check};
    use crate::site::{Asset, Site};

    fn site(sent: usize) -> Site {
        let asset = Asset { plain: vec![0; 2 * BUDGET], gzip: None, brotli: Some(vec![0; sent]) };
        Site { files: [("a.wasm".to_owned(), asset)].into() }
    }

    #[test]
    fn p79_a_page_beyond_the_budget_is_refused() {
        assert!(check(&site(BUDGET)).is_ok());
        assert!(check(&site(BUDGET + 1)).is_err());
    }
}
