// Being built.

export default function ReposPage() {
  return null;
}
