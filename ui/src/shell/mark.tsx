/** The sign of the product. */
export function Mark() {
  return (
    <svg aria-hidden viewBox="0 0 32 32" className="size-8">
      <rect width="32" height="32" rx="8" className="fill-accent" />
      <g fill="none" className="stroke-on-accent" strokeWidth="2.6" strokeLinecap="round">
        <path d="M16 7.5a8.5 8.5 0 1 1-8.1 5.9" />
        <path d="M16 11.5V16l3.2 2.2" strokeLinejoin="round" />
      </g>
      <circle cx="9.2" cy="9.2" r="1.9" className="fill-on-accent" />
    </svg>
  );
}
