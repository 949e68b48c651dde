//! The page as a table of files: built by cargo, bundled by wasm-bindgen, stamped, compressed.
//!
//! The same `index.html` and `web/` serve Trunk, which does not run this code, so a stamp only adds: the sizes for the
//! progress bar and the version behind `?v=` that keeps a cached script from meeting a newer module.
//! Invariant: every reference inside the site is relative, so it works under any path of any host.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use wasm_bindgen_cli_support::Bindgen;

use crate::toolchain::{cargo, ensure_wasm, root, run, target_dir};

/// Name of the bundled module; `boot.js` asks for it.
pub(crate) const WASM: &str = "tandem_bg.wasm";
/// What the stamp replaces in `index.html`.
const UNSTAMPED: &str = r#"<meta name="tandem-build" content="{}">"#;
/// Files smaller than this are sent as they are.
const WORTH_COMPRESSING: usize = 1024;

/// How the page is built.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Flavour {
    /// Profile `web`, compressed: what users get.
    Web,
    /// Profile `dev`, names kept for stack traces, nothing compressed.
    Debug,
}

/// A file of the page in the forms a server may send.
pub(crate) struct Asset {
    pub(crate) plain: Vec<u8>,
    pub(crate) gzip: Option<Vec<u8>>,
    pub(crate) brotli: Option<Vec<u8>>,
}

/// All files of the page by their path below its address.
pub(crate) struct Site {
    pub(crate) files: BTreeMap<String, Asset>,
}

/// Builds the page, saying what it does.
pub(crate) fn build(flavour: Flavour) -> anyhow::Result<Site> {
    ensure_wasm()?;
    let profile = match flavour {
        Flavour::Web => "web",
        Flavour::Debug => "dev",
    };
    println!("· compiling for the browser, profile `{profile}` (the first time takes minutes, then seconds)");
    run(cargo().args(["build", "--package", "tandem", "--bin", "tandem"]).args([
        "--target",
        "wasm32-unknown-unknown",
        "--profile",
        profile,
    ]))?;

    println!("· bundling");
    let folder = if flavour == Flavour::Debug { "debug" } else { "web" };
    let target = target_dir()?;
    let mut files = bundle(&target.join("wasm32-unknown-unknown").join(folder).join("tandem.wasm"), flavour, &target)?;
    for name in ["boot.js", "worker.js", "style.css", "icon.svg"] {
        files.insert(name.to_owned(), read(&root().join("web").join(name))?);
    }
    let index = String::from_utf8(read(&root().join("index.html"))?)?;

    let mut site = Site { files: BTreeMap::new() };
    let version = fingerprint(files.values().flatten());
    if flavour == Flavour::Web {
        println!("· compressing");
    }
    for (name, plain) in files {
        site.files.insert(name, asset(plain, flavour, &target)?);
    }
    let index = stamp(&index, &site.files[WASM], version)?;
    site.files.insert("index.html".to_owned(), asset(index.into_bytes(), flavour, &target)?);
    Ok(site)
}

/// JavaScript glue and module, by file name.
fn bundle(wasm: &Path, flavour: Flavour, target: &Path) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    let out = target.join("tandem-site").join("bundle");
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    fs::create_dir_all(&out)?;
    let mut bindgen = Bindgen::new();
    bindgen.input_path(wasm).typescript(false).remove_name_section(flavour == Flavour::Web);
    bindgen.web(true)?.generate(&out).context("wasm-bindgen cannot bundle the page")?;
    let mut files = BTreeMap::new();
    collect(&out, "", &mut files)?;
    ensure!(files.contains_key(WASM), "wasm-bindgen wrote no {WASM}");
    Ok(files)
}

/// Reads a folder and the folders in it (glue may come with snippets).
fn collect(folder: &Path, prefix: &str, files: &mut BTreeMap<String, Vec<u8>>) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &format!("{name}/"), files)?;
        } else {
            files.insert(name, read(&entry.path())?);
        }
    }
    Ok(())
}

/// Writes sizes and version into the page.
fn stamp(index: &str, wasm: &Asset, version: u64) -> anyhow::Result<String> {
    let gzip = wasm.gzip.as_ref().map_or(0, Vec::len);
    let meta = format!(
        r#"<meta name="tandem-build" content='{{"wasm":{},"gzip":{gzip},"version":"{version:016x}"}}'>"#,
        wasm.plain.len()
    );
    let mut page: String =
        index.lines().filter(|line| !line.contains("data-trunk")).flat_map(|line| [line, "\n"]).collect();
    for (from, to) in [
        (UNSTAMPED, meta),
        (r#"href="style.css""#, format!(r#"href="style.css?v={version:016x}""#)),
        (r#"src="boot.js""#, format!(r#"src="boot.js?v={version:016x}""#)),
    ] {
        if page.matches(from).count() != 1 {
            bail!("index.html must hold `{from}` exactly once");
        }
        page = page.replace(from, &to);
    }
    Ok(page)
}

fn asset(plain: Vec<u8>, flavour: Flavour, target: &Path) -> anyhow::Result<Asset> {
    if flavour == Flavour::Debug || plain.len() < WORTH_COMPRESSING {
        return Ok(Asset { plain, gzip: None, brotli: None });
    }
    let gzip = cached(&plain, "gz", target, gzip)?;
    let brotli = cached(&plain, "br", target, brotli)?;
    Ok(Asset { plain, gzip: Some(gzip), brotli: Some(brotli) })
}

/// The highest levels take seconds, so the result is kept until the input changes.
fn cached(
    plain: &[u8],
    ending: &str,
    target: &Path,
    compress: fn(&[u8]) -> std::io::Result<Vec<u8>>,
) -> anyhow::Result<Vec<u8>> {
    let folder = target.join("tandem-site").join("compressed");
    let path = folder.join(format!("{:016x}-{}.{ending}", fingerprint(plain), plain.len()));
    if let Ok(bytes) = fs::read(&path) {
        return Ok(bytes);
    }
    let bytes = compress(plain)?;
    fs::create_dir_all(&folder)?;
    // Renamed into place: another build may be reading.
    let part = path.with_extension(format!("{ending}.{}", std::process::id()));
    fs::write(&part, &bytes)?;
    fs::rename(&part, &path)?;
    Ok(bytes)
}

fn gzip(plain: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(plain)?;
    encoder.finish()
}

fn brotli(plain: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let params = brotli::enc::BrotliEncoderParams { quality: 11, lgwin: 24, ..Default::default() };
    brotli::BrotliCompress(&mut &plain[..], &mut bytes, &params)?;
    Ok(bytes)
}

/// FNV-1a, 64 bits: names a version, guards nothing.
fn fingerprint<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> u64 {
    bytes.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}

fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::{Asset, brotli, gzip, stamp};

    #[test]
    fn compressed_forms_unpack_to_the_file() {
        let plain: Vec<u8> = (0..40_000_u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
        let mut unpacked = Vec::new();
        let packed = gzip(&plain).expect("memory does not fail");
        flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut unpacked).expect("it is gzip");
        assert_eq!(unpacked, plain);
        unpacked.clear();
        let packed = brotli(&plain).expect("memory does not fail");
        brotli::BrotliDecompress(&mut &packed[..], &mut unpacked).expect("it is brotli");
        assert_eq!(unpacked, plain);
    }

    #[test]
    fn the_shipped_page_can_be_stamped() {
        let index = include_str!("../../index.html");
        let wasm = Asset { plain: vec![0; 10], gzip: Some(vec![0; 3]), brotli: None };
        let page = stamp(index, &wasm, 0xab).expect("the page has its three marks");
        assert!(page.contains(r#""wasm":10,"gzip":3,"version":"00000000000000ab""#));
        assert!(page.contains("boot.js?v=00000000000000ab"));
    }
}
