import{i as e,t}from"./copy-tuYJvqDc.js";import{Ba as n}from"./index-vB6eGEqP.js";var r=n(),i=`import { Webhook } from 'standardwebhooks';

const webhook = new Webhook(process.env.WEBHOOK_SECRET);
// Throws unless the body, as it came, was signed with the secret.
const event = webhook.verify(body, request.headers);`;function a(n){return(0,r.jsx)(e,{...n,secretLabel:`webhook secret`,children:(0,r.jsxs)(`div`,{className:`flex flex-col gap-1.5`,children:[(0,r.jsx)(`p`,{className:`text-sm text-muted`,children:`Verify deliveries with it. Standard Webhooks has libraries for most languages; docs/webhooks.md shows Python and Go too, with the headers and the retries:`}),(0,r.jsx)(t,{label:`verification`,wrap:!0,maxHeight:`none`,code:i})]})})}export{a as default};