// Search where the site is opened as files: a browser starts no worker there, so its script runs in a hidden frame.
// The theme's own remedy for this is fetched from the network; the theme's scripts look for it by the name IFrameWorker.
if (location.protocol === "file:") {
  const head = `<script>
    postMessage = data => parent.postMessage(data, "*");
    importScripts = async (...urls) => {
      for (const url of urls) await new Promise((done, failed) => {
        const script = Object.assign(document.createElement("script"), { src: url, onload: done, onerror: failed });
        document.body.appendChild(script);
      });
    };
  </script>`;
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = Object.assign(document.createElement("iframe"), { hidden: true });
      addEventListener("message", message => {
        if (message.source !== frame.contentWindow) return;
        this.dispatchEvent(new MessageEvent("message", { data: message.data }));
        this.onmessage?.(message);
      });
      this.ready = new Promise(done => frame.addEventListener("load", () => done(frame.contentWindow)));
      frame.srcdoc = `<body>${head}<script src="${new URL(url, location)}"></script></body>`;
      document.body.appendChild(frame);
    }
    postMessage(data) { this.ready.then(frame => frame.dispatchEvent(new MessageEvent("message", { data }))); }
  };
}
