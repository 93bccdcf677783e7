// How a receiver checks what it gets, in a few languages. The secret stands in a variable, never in the text.
import { useState } from "react";
import { Card, Command } from "../parts/basics";

const texts: [string, string][] = [
  [
    "Python",
    `import os
from flask import Flask, request
from standardwebhooks import Webhook  # pip install standardwebhooks

app = Flask(__name__)
checks = Webhook(os.environ["WEBHOOK_SECRET"])

@app.post("/hook")
def hook():
    event = checks.verify(request.get_data(), dict(request.headers))
    print(request.headers["svc-event-type"], event)
    return "", 200`,
  ],
  [
    "TypeScript",
    `import express from "express";
import { Webhook } from "standardwebhooks"; // npm install standardwebhooks

const checks = new Webhook(process.env.WEBHOOK_SECRET!);
express().post("/hook", express.raw({ type: "*/*" }), (request, answer) => {
  const event = checks.verify(request.body, request.headers as Record<string, string>);
  console.log(request.headers["svc-event-type"], event);
  answer.sendStatus(200);
}).listen(3000);`,
  ],
  [
    "Go",
    `checks, _ := standardwebhooks.NewWebhook(os.Getenv("WEBHOOK_SECRET"))
http.HandleFunc("/hook", func(answer http.ResponseWriter, request *http.Request) {
	body, _ := io.ReadAll(io.LimitReader(request.Body, 1<<20))
	if checks.Verify(body, request.Header) != nil {
		answer.WriteHeader(http.StatusUnauthorized)
		return
	}
	log.Println(request.Header.Get("svc-event-type"), string(body))
})`,
  ],
];

export function Snippets() {
  const [at, set] = useState(0);
  return (
    <Card title="The receiver">
      <div className="in">
        <p className="soft">It must check the signature over the raw bytes, and answer 2xx within 15 s. The same webhook-id may come twice.</p>
        <div className="line" role="group" aria-label="Language">
          {texts.map(([name], i) => (
            <button key={name} type="button" className={"btn s " + (i === at ? "" : "quiet")} aria-pressed={i === at} onClick={() => set(i)}>
              {name}
            </button>
          ))}
        </div>
        <Command code text={texts[at]![1]} />
      </div>
    </Card>
  );
}
