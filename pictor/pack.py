"""Pack the output of make_dataset.py for prep.py: data.jsonl.xz without the sets that only the autoencoder used, and webp/."""
import json, lzma, os, shutil
AUTOENCODER_ONLY = set('streamline-sharp-color icon-park-twotone solar healthicons pepicons-print streamline-ultimate maki temaki iconoir hugeicons covid'.split())
os.makedirs('webp', exist_ok=True)
rows = sorted((r for r in map(json.loads, open('data.jsonl')) if r['set'] not in AUTOENCODER_ONLY), key=lambda r: r['set'])
with lzma.open('data.jsonl.xz', 'wt', preset=9) as f:
    for r in rows:
        if r.get('webp'): shutil.copy('npm/_lobehub_fluent-emoji-3d/package/assets/' + r['webp'], 'webp/')
        f.write(json.dumps(r, ensure_ascii=False, separators=(',', ':')) + '\n')
print(len(rows), 'drawings')
